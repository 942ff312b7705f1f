import { TestBed } from '../spec/support/angular.js';
import {
  HttpContext,
  HttpContextToken,
  HttpEventType,
  HttpHeaderResponse,
  HttpHeaders,
  HttpResponse,
  type HttpInterceptorFn,
  provideHttpClient,
  withFetch,
  withInterceptors,
} from '@angular/common/http';
import { HttpTestingController, provideHttpClientTesting, type TestRequest } from '@angular/common/http/testing';
import {
  firstValueFrom,
  lastValueFrom,
  type Observable,
  of,
  type Subscription,
  take,
  tap,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import { LlmClient } from '../client.js';
import type { LlmStreamError } from '../errors.js';
import type { EndpointName } from '../events.js';
import { startGateway, type Gateway } from '../gateway/index.js';
import { accumulateText } from '../operators/accumulate-text.js';
import { finalUsage } from '../operators/final-usage.js';
import { textDeltas } from '../operators/text-deltas.js';
import { createLlmClient } from '../create-llm-client.js';
import { chat } from '../testing/chat.js';
import { sse } from '../testing/sse.js';
import { provideLlm, withHttpClient } from './provide-llm.js';

const hello = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const words = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const frame = (text: string) => words(sse(chat.text(text)));
const auth: HttpInterceptorFn = (request, next) =>
  next(request.clone({ setHeaders: { authorization: 'Bearer from-interceptor' } }));

/** What XMLHttpRequest reports, which Node does not have. */
const progressError = () => new Event('error') as ProgressEvent;

describe('withHttpClient, answered by HttpTestingController', () => {
  const open = new Set<Subscription>();
  afterEach(() => {
    // Their clocks would keep the process alive.
    for (const subscription of open) subscription.unsubscribe();
    open.clear();
  });

  function ask(...interceptors: HttpInterceptorFn[]) {
    TestBed.configureTestingModule({
      providers: [
        provideHttpClient(withInterceptors(interceptors)),
        provideHttpClientTesting(),
        provideLlm({ baseUrl: '/v1' }, withHttpClient()),
      ],
    });
    const seen: string[] = [];
    let error: LlmStreamError | undefined;
    const subscription = TestBed.inject(LlmClient)
      .chatCompletions(hello)
      .pipe(textDeltas())
      .subscribe({
        next: (text) => seen.push(text),
        error: (reason: LlmStreamError) => (error = reason),
        complete: () => seen.push('|'),
      });
    open.add(subscription);
    const request = TestBed.inject(HttpTestingController).expectOne('/v1/chat/completions');
    return { seen, subscription, request, error: () => error };
  }

  const head = (status: number) =>
    new HttpHeaderResponse({ status, headers: new HttpHeaders({ 'x-request-id': 'r1' }) });
  const progress = (request: TestRequest, partialText: string) => {
    request.event({ type: HttpEventType.DownloadProgress, loaded: partialText.length, partialText } as never);
  };
  const a = frame('a');
  const b = frame('b');
  const end = words(sse(chat.finish('stop'))) + words(sse.done);

  it('sends a POST that interceptors see', () => {
    const { request, subscription } = ask(auth);

    expect(request.request.method).toBe('POST');
    expect(request.request.headers.get('authorization')).toBe('Bearer from-interceptor');
    expect(request.request.headers.get('content-type')).toBe('application/json');
    expect(JSON.parse(request.request.body as string)).toMatchObject({ ...hello, stream: true });
    subscription.unsubscribe();
    expect(request.cancelled).toBe(true);
  });

  it('emits what each progress event adds to the text', () => {
    const { request, seen } = ask();

    request.event(head(200));
    progress(request, a);
    expect(seen).toEqual(['a']);
    progress(request, a + b);
    expect(seen).toEqual(['a', 'b']);
    request.flush(a + b + end);
    expect(seen).toEqual(['a', 'b', '|']);
  });

  it('reads an answer that comes whole', () => {
    const { request, seen } = ask();

    request.flush(a + b + end);

    expect(seen).toEqual(['a', 'b', '|']);
  });

  it('takes progress before any head for that of a good answer', () => {
    const { request, seen } = ask();

    progress(request, a);

    expect(seen).toEqual(['a']);
  });

  it('does not read the text of an error as events', () => {
    const { request, seen, error } = ask();
    const body = JSON.stringify({ error: { message: 'Slow down', code: 'rate_limited' } });

    request.event(head(429));
    progress(request, a);
    request.flush(body, {
      status: 429,
      statusText: 'Too Many Requests',
      headers: { 'retry-after': '2', 'content-type': 'application/json' },
    });

    expect(seen).toEqual([]);
    expect(error()).toMatchObject({
      kind: 'http',
      status: 429,
      code: 'rate_limited',
      requestId: 'r1',
      retryable: true,
    });
    expect(error()?.message).toContain('Slow down');
  });

  it('reads the headers of an error that comes without a head of its own', () => {
    const { request, error } = ask();

    request.flush('{}', { status: 503, statusText: 'Busy', headers: { 'retry-after': '2' } });

    expect(error()).toMatchObject({ kind: 'http', status: 503, retryAfterMs: 2000 });
  });

  it('tells a connection that cannot be made from one that breaks', () => {
    const none = ask();
    none.request.error(progressError());
    expect(none.error()).toMatchObject({ kind: 'connection', retryable: true });
    expect((none.error()?.cause as Error).message).toBe('HttpClient reported a network error');

    TestBed.resetTestingModule();
    const broken = ask();
    broken.request.event(head(200));
    progress(broken.request, a);
    broken.request.error(progressError());
    expect(broken.seen).toEqual(['a']);
    expect(broken.error()).toMatchObject({ kind: 'truncated', tokenSeen: true });
  });

  it('passes an interceptor’s own error on as the cause', () => {
    TestBed.configureTestingModule({
      providers: [
        provideHttpClient(withInterceptors([() => throwError(() => new Error('not signed in'))])),
        provideHttpClientTesting(),
        provideLlm({ baseUrl: '/v1' }, withHttpClient()),
      ],
    });
    let error: LlmStreamError | undefined;

    TestBed.inject(LlmClient)
      .chatCompletions(hello)
      .subscribe({ error: (reason: LlmStreamError) => (error = reason) });

    expect(error).toMatchObject({ kind: 'connection', cause: new Error('not signed in') });
  });

  it('stops an interceptor that answers before subscribe returns, in the middle of its answer', () => {
    const body = a + b + end;
    TestBed.configureTestingModule({
      providers: [
        provideHttpClient(withInterceptors([() => of(new HttpResponse({ body, status: 200 }))])),
        provideHttpClientTesting(),
        provideLlm({ baseUrl: '/v1' }, withHttpClient()),
      ],
    });
    const events: string[] = [];

    TestBed.inject(LlmClient)
      .chatCompletions(hello)
      .pipe(
        textDeltas(),
        tap((text) => events.push(text)),
        take(1),
      )
      .subscribe({ complete: () => events.push('|') });

    expect(events).toEqual(['a', '|']);
  });

  it('hands its context to the interceptors', () => {
    const TRACE = new HttpContextToken(() => false);
    let traced = false;
    TestBed.configureTestingModule({
      providers: [
        provideHttpClient(
          withInterceptors([
            (request, next) => {
              traced = request.context.get(TRACE);
              return next(request);
            },
          ]),
        ),
        provideHttpClientTesting(),
        provideLlm({ baseUrl: '/v1' }, withHttpClient({ context: new HttpContext().set(TRACE, true) })),
      ],
    });

    TestBed.inject(LlmClient).chatCompletions(hello).subscribe().unsubscribe();

    expect(traced).toBe(true);
  });

  it('reads 40,000 progress events in linear time, and loses none of their text', async () => {
    const { request, seen } = ask();
    const piece = frame('abc');
    const started = performance.now();

    let whole = '';
    request.event(head(200));
    for (let i = 0; i < 40_000; i++) {
      whole += piece;
      progress(request, whole);
      if (i % 1000 === 0) await firstValueFrom(timer(0));
    }
    request.flush(whole + end);

    // Cutting each increment off copies 160 GB, and takes half a minute.
    expect(performance.now() - started).toBeLessThan(3000);
    expect(seen.join('')).toBe('abc'.repeat(40_000) + '|');
  });

  it('delivers the text that it held back for the sake of time without waiting for more', async () => {
    const { request, seen } = ask();
    const piece = frame('x'.repeat(10_000));

    let whole = '';
    request.event(head(200));
    for (let i = 0; i < 100; i++) progress(request, (whole += piece));
    expect(seen.length).toBeLessThan(100);
    await firstValueFrom(timer(200));

    expect(seen).toHaveLength(100);
  });
});

describe('withHttpClient over sockets', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
    TestBed.configureTestingModule({
      providers: [
        provideHttpClient(withFetch(), withInterceptors([auth])),
        provideLlm(() => ({ baseUrl: gateway.url }), withHttpClient()),
      ],
    });
  });
  afterEach(() => gateway.close());

  const input = 'Compare Tokyo and 京都, please';
  const ask = (llm: LlmClient): Record<EndpointName, Observable<object>> => ({
    chatCompletions: llm.chatCompletions({ model: 'm', messages: [{ role: 'user', content: input }] }),
    responses: llm.responses({ model: 'm', input }),
    messages: llm.messages({ model: 'm', max_tokens: 500, messages: [{ role: 'user', content: input }] }),
    images: llm.images({ model: 'm', prompt: input, partial_images: 2 }),
  });

  it.each(['chatCompletions', 'responses', 'messages', 'images'] as const)(
    'emits the events of %s that fetch would',
    async (endpoint) => {
      const events = await lastValueFrom(ask(TestBed.inject(LlmClient))[endpoint].pipe(toArray()));
      const byFetch = createLlmClient({ baseUrl: gateway.url, apiKey: 'key' });
      const same = await lastValueFrom(ask(byFetch)[endpoint].pipe(toArray()));

      expect(events.map((event) => Object.keys(event))).toEqual(same.map((event) => Object.keys(event)));
      expect(events.length).toBeGreaterThan(2);
      expect(gateway.journal[0]?.headers['authorization']).toMatch(/^Bearer \*\*\*/);
      expect(gateway.journal.map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
    },
  );

  it('reads characters that were cut between writes', async () => {
    const said = 'Grüße aus 東京 — café ☕, 😀!';
    const request = { model: 'm', messages: [{ role: 'user' as const, content: `Say "${said}"` }] };
    const llm = TestBed.inject(LlmClient);

    const text = llm.chatCompletions(request, { headers: { 'x-gateway-pace': 'writes=byte' } }).pipe(accumulateText());

    expect(await lastValueFrom(text)).toBe(said);
  });

  it('closes the connection on unsubscription', async () => {
    const options = { headers: { 'x-gateway-pace': 'tps=20' } };
    await firstValueFrom(TestBed.inject(LlmClient).chatCompletions(hello, options).pipe(textDeltas()));
    await gateway.idle();

    expect(gateway.journal[0]).toMatchObject({ outcome: 'hung-up' });
    expect(gateway.journal[0]!.tokensDelivered).toBeLessThan(gateway.journal[0]!.tokensPlanned);
  });

  it('raises the errors that fetch would', async () => {
    const outcome = async (fault: string): Promise<unknown> =>
      lastValueFrom(TestBed.inject(LlmClient).chatCompletions(hello, { headers: { 'x-gateway-fault': fault } })).catch(
        (error: unknown) => error,
      );

    expect(await outcome('429; retry-after=3')).toMatchObject({ kind: 'http', status: 429, retryAfterMs: 3000 });
    expect(await outcome('reset=3')).toMatchObject({ kind: 'truncated', tokenSeen: true });
    expect(await outcome('reset=headers')).toMatchObject({ kind: 'connection' });
    expect(await outcome('html')).toMatchObject({ kind: 'http', status: 200 });
    expect(await outcome('error; after=2')).toMatchObject({ kind: 'in-band', tokenSeen: true });
  });

  it('brings the usage that comes last', async () => {
    const usage = await lastValueFrom(TestBed.inject(LlmClient).chatCompletions(hello).pipe(finalUsage()));

    expect(usage.outputTokens).toBeGreaterThan(0);
  });
});
