import { Component, inject, InjectionToken, PLATFORM_ID, provideZonelessChangeDetection, signal } from '@angular/core';
import { toSignal } from '@angular/core/rxjs-interop';
import { bootstrapApplication, type BootstrapContext } from '@angular/platform-browser';
import { renderApplication } from '@angular/platform-server';
import { LlmClient, streamState, type Transport } from 'rx-llm';
import { llmResource, provideLlm, withServerStreams, withTransport, type LlmFeature } from 'rx-llm/angular';
import { chat, sse } from 'rx-llm/testing';
import { Observable, of } from 'rxjs';

const SERVER = new InjectionToken<boolean>('SERVER');
const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

/** Asks in every way as it is made. */
@Component({
  selector: 'app-page',
  template: `<p>[{{ state()?.text }}] [{{ byParams.text() }}] [{{ byHand.status() }}] {{ platform }}</p>`,
})
class Page {
  readonly #llm = inject(LlmClient);
  readonly platform = inject(PLATFORM_ID);
  readonly state = toSignal(this.#llm.chatCompletions(request).pipe(streamState()));
  readonly byParams = llmResource({
    params: signal('Hi'),
    stream: () => this.#llm.chatCompletions(request),
    server: inject(SERVER),
  });
  readonly byHand = llmResource({ stream: () => this.#llm.chatCompletions(request) });

  constructor() {
    this.byHand.start();
  }
}

async function render(server: boolean, ...features: LlmFeature[]) {
  let sent = 0;
  const transport: Transport = () => {
    sent++;
    const body = new Observable<Uint8Array>((subscriber) => {
      for (const event of chat.turn('Hello')) subscriber.next(sse(event));
      subscriber.next(sse.done);
    });
    return of({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });
  };
  const html = await renderApplication(
    (context: BootstrapContext) =>
      bootstrapApplication(
        Page,
        {
          providers: [
            provideZonelessChangeDetection(),
            { provide: SERVER, useValue: server },
            provideLlm({ baseUrl: 'http://gateway/v1' }, withTransport(transport), ...features),
          ],
        },
        context,
      ),
    {
      document: '<html><body><app-page></app-page></body></html>',
      url: 'http://localhost/',
      allowedHosts: ['localhost'],
    },
  );
  return { sent, text: /<p>(.*?)<\/p>/.exec(html)?.[1] };
}

describe('while a page is rendered on a server', () => {
  it('no stream starts', async () => {
    expect(await render(false)).toEqual({ sent: 0, text: '[] [] [idle] server' });
  });

  it('those start that are asked for', async () => {
    expect(await render(true, withServerStreams())).toEqual({ sent: 2, text: '[Hello] [Hello] [idle] server' });
  });
});
