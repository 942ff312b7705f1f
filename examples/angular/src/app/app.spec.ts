import { TestBed } from '@angular/core/testing';
import { provideHttpClient } from '@angular/common/http';
import { HttpTestingController, provideHttpClientTesting } from '@angular/common/http/testing';
import { LlmClient } from 'rx-llm';
import { provideLlm, withHttpClient, withToken } from 'rx-llm/angular';
import { chat, fakeLlmClient, sse } from 'rx-llm/testing';
import { NEVER } from 'rxjs';
import { App } from './app';
import { Conversation } from './conversation';
import { FETCH_CLIENT } from './settings';

function render(...providers: object[]) {
  TestBed.configureTestingModule({ providers: [{ provide: FETCH_CLIENT, useValue: fakeLlmClient({}) }, ...providers] });
  const fixture = TestBed.createComponent(App);
  const page = fixture.nativeElement as HTMLElement;
  return { fixture, page, text: (selector: string) => page.querySelector(selector)?.textContent?.trim() };
}

describe('App', () => {
  it('shows an answer with what it cost', async () => {
    const llm = fakeLlmClient({
      chatCompletions: chat.turn('Because of the moon', {
        reasoning: 'Tides…',
        usage: { prompt_tokens: 1200, completion_tokens: 5 },
      }),
    });
    const { fixture, text } = render({ provide: LlmClient, useValue: llm });

    TestBed.inject(Conversation).send('Why are there tides?');
    await fixture.whenStable();

    expect(text('.question')).toContain('Why are there tides?');
    expect(text('.reasoning')).toContain('Tides…');
    expect(text('.text')).toBe('Because of the moon');
    expect(text('.receipt')).toContain('1,200 tokens in');
    expect(text('[role=status]')).toBe('The answer is complete.');
  });

  it('has a stop button, and says that it is busy, while an answer comes', async () => {
    const llm = fakeLlmClient({ chatCompletions: () => NEVER });
    const { fixture, page, text } = render({ provide: LlmClient, useValue: llm });

    TestBed.inject(Conversation).send('Why?');
    await fixture.whenStable();
    expect(page.querySelector('[role=log]')?.getAttribute('aria-busy')).toBe('true');
    page.querySelector<HTMLButtonElement>('.stop')!.click();
    await fixture.whenStable();

    expect(page.querySelector('[role=log]')?.getAttribute('aria-busy')).toBe('false');
    expect(text('.receipt')).toContain('Stopped');
    expect(llm.requests[0]?.state).not.toBe('open');
  });

  it('goes through HttpClient, which tests can answer', async () => {
    const { fixture, text } = render(
      provideHttpClient(),
      provideHttpClientTesting(),
      provideLlm({ baseUrl: '/v1' }, withHttpClient()),
      provideLlm({ baseUrl: '/v1' }, withToken(FETCH_CLIENT)),
    );

    TestBed.inject(Conversation).send('Why?');
    const request = TestBed.inject(HttpTestingController).expectOne('/v1/chat/completions');
    const frames = [...chat.turn('The moon').map((event) => sse(event)), sse.done];
    request.flush(frames.map((bytes) => new TextDecoder().decode(bytes)).join(''));
    await fixture.whenStable();

    expect(text('.text')).toBe('The moon');
  });
});
