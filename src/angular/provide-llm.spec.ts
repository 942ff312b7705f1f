import { TestBed } from '../spec/support/angular.js';
import { inject, InjectionToken, PLATFORM_ID } from '@angular/core';
import { firstValueFrom, of, type Observable } from 'rxjs';
import { LlmClient } from '../client.js';
import { textDeltas } from '../operators/text-deltas.js';
import { chat } from '../testing/chat.js';
import { fakeLlmClient } from '../testing/fake-client.js';
import { sse } from '../testing/sse.js';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.js';
import { provideLlm, withDefaults, withServerStreams, withToken, withTransport } from './provide-llm.js';

const hello = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };

function recorder(text = 'Hello') {
  const sent: TransportRequest[] = [];
  const transport: Transport = (request): Observable<TransportResponse> => {
    sent.push(request);
    const body = of(...chat.turn(text).map((chunk) => sse(chunk)), sse.done);
    return of({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });
  };
  return { sent, transport };
}

const textOf = (llm: LlmClient) => firstValueFrom(llm.chatCompletions(hello).pipe(textDeltas()));

describe('provideLlm', () => {
  it('provides a client that is injected by LlmClient', async () => {
    const { transport, sent } = recorder();
    TestBed.configureTestingModule({ providers: [provideLlm({ baseUrl: '/v1' }, withTransport(transport))] });

    expect(await textOf(TestBed.inject(LlmClient))).toBe('Hello');
    expect(sent.map(({ url }) => url)).toEqual(['/v1/chat/completions']);
  });

  it('sends nothing when the client is injected, nor when a stream is made', () => {
    const { transport, sent } = recorder();
    TestBed.configureTestingModule({ providers: [provideLlm({ baseUrl: '/v1' }, withTransport(transport))] });

    TestBed.inject(LlmClient).chatCompletions(hello);

    expect(sent).toEqual([]);
  });

  it('calls a function of the configuration, and of the transport, in an injection context', async () => {
    const { transport, sent } = recorder();
    const WHERE = new InjectionToken<string>('WHERE');
    const HOW = new InjectionToken<Transport>('HOW');
    TestBed.configureTestingModule({
      providers: [
        { provide: WHERE, useValue: 'https://gateway.example/v1' },
        { provide: HOW, useValue: transport },
        provideLlm(() => ({ baseUrl: inject(WHERE) }), withTransport({ useFactory: () => inject(HOW) })),
      ],
    });

    await textOf(TestBed.inject(LlmClient));

    expect(sent[0]?.url).toBe('https://gateway.example/v1/chat/completions');
  });

  it('keeps several gateways apart by their tokens', async () => {
    const a = recorder('A');
    const b = recorder('B');
    const GATEWAY_B = new InjectionToken<LlmClient>('GATEWAY_B');
    TestBed.configureTestingModule({
      providers: [
        provideLlm({ baseUrl: '/a' }, withTransport(a.transport)),
        provideLlm({ baseUrl: '/b' }, withToken(GATEWAY_B), withTransport(b.transport)),
      ],
    });

    expect(await textOf(TestBed.inject(LlmClient))).toBe('A');
    expect(await textOf(TestBed.inject(GATEWAY_B))).toBe('B');
    expect([...a.sent, ...b.sent].map(({ url }) => url)).toEqual(['/a/chat/completions', '/b/chat/completions']);
  });

  it('gives way to a fake that is provided in its place', async () => {
    TestBed.configureTestingModule({
      providers: [
        provideLlm({ baseUrl: '/v1' }),
        { provide: LlmClient, useValue: fakeLlmClient({ chatCompletions: chat.turn('fake') }) },
      ],
    });

    expect(await textOf(TestBed.inject(LlmClient))).toBe('fake');
  });

  it('refuses two transports', () => {
    const { transport } = recorder();
    const provide = () => provideLlm({ baseUrl: '/v1' }, withTransport(transport), withTransport(transport));

    expect(provide).toThrow(/one feature of the kind "transport"/);
  });

  describe('withDefaults', () => {
    it('gives every request what it does not say itself', async () => {
      const { transport, sent } = recorder();
      const heads: number[] = [];
      const defaults = {
        chatCompletions: { temperature: 0.2, max_tokens: 50 },
        options: {
          headers: { 'x-tenant': 'a', 'x-team': 'blue' },
          onResponse: ({ status }: { status: number }) => heads.push(status),
        },
      };
      TestBed.configureTestingModule({
        providers: [provideLlm({ baseUrl: '/v1' }, withDefaults(defaults), withTransport(transport))],
      });
      const llm = TestBed.inject(LlmClient);

      const request = { ...hello, max_tokens: 9 };
      await firstValueFrom(llm.chatCompletions(request, { headers: { 'x-team': 'red' } }).pipe(textDeltas()));

      expect(JSON.parse(sent[0]!.body)).toMatchObject({ model: 'm', temperature: 0.2, max_tokens: 9 });
      expect(sent[0]!.headers).toMatchObject({ 'x-tenant': 'a', 'x-team': 'red' });
      expect(heads).toEqual([200]);
    });
  });

  describe('while a page is rendered on a server', () => {
    const onServer = { provide: PLATFORM_ID, useValue: 'server' };

    it('sends and emits nothing, and says so once', () => {
      const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
      const { transport, sent } = recorder();
      TestBed.configureTestingModule({
        providers: [onServer, provideLlm({ baseUrl: '/v1' }, withTransport(transport))],
      });
      const llm = TestBed.inject(LlmClient);
      const seen: string[] = [];
      const observer = {
        next: () => seen.push('next'),
        error: () => seen.push('error'),
        complete: () => seen.push('|'),
      };

      llm.chatCompletions(hello).subscribe(observer);
      llm.images({ model: 'm', prompt: 'A robot' }).subscribe(observer);

      expect([sent, seen]).toEqual([[], []]);
      expect(warn.mock.calls.flat().join()).toMatch(/^[^,]*withServerStreams\(\)[^,]*$/);
      warn.mockRestore();
    });

    it('sends when it is asked to', async () => {
      const { transport, sent } = recorder();
      TestBed.configureTestingModule({
        providers: [
          onServer,
          provideLlm({ baseUrl: 'http://gateway/v1' }, withServerStreams(), withTransport(transport)),
        ],
      });

      expect(await textOf(TestBed.inject(LlmClient))).toBe('Hello');
      expect(sent).toHaveLength(1);
    });
  });
});
