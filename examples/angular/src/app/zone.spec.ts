import 'zone.js';
import { ApplicationRef, Component, NgZone, provideZoneChangeDetection } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { chat } from 'rx-llm/testing';
import { llmResource } from 'rx-llm/angular';
import { Observable } from 'rxjs';

@Component({ selector: 'app-zoned', template: `{{ answer.text() }}` })
class Zoned {
  static checks = 0;
  readonly answer = llmResource({
    // As a socket would: a hundred tokens, each in a task of its own.
    stream: () =>
      new Observable<ReturnType<typeof chat.text>>((subscriber) => {
        let sent = 0;
        const timer = setInterval(() => {
          subscriber.next(chat.text('x'));
          if (++sent === 100) subscriber.complete();
        }, 0);
        return () => clearInterval(timer);
      }),
  });

  ngDoCheck(): void {
    Zoned.checks++;
  }
}

describe('llmResource with zone.js', () => {
  it('renders what comes, without a round of change detection for each token', async () => {
    TestBed.configureTestingModule({ providers: [provideZoneChangeDetection()] });
    const fixture = TestBed.createComponent(Zoned);
    fixture.autoDetectChanges();
    const { answer } = fixture.componentInstance;

    TestBed.inject(NgZone).run(() => answer.start());
    await new Promise((resolve) => setTimeout(resolve, 800));
    await TestBed.inject(ApplicationRef).whenStable();

    expect(answer.status()).toBe('done');
    expect((fixture.nativeElement as HTMLElement).textContent).toBe('x'.repeat(100));
    expect(Zoned.checks).toBeLessThan(80);
  });
});
