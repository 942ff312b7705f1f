import { Observable, Subject, firstValueFrom, of, retry, take, throwError, timer } from 'rxjs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  HttpResponseError,
  LlmStreamError,
  createLlmClient,
  fetchTransport,
  type LlmClientOptions,
  type ResponseHead,
} from 'rx-llm';
import { undiciTransport } from 'rx-llm/undici';
import { Agent, MockAgent } from 'undici';
import { ExchangeServer, type Exchange } from './support/exchange-server.js';
import { record } from './support/reading.js';

const request = { model: 'm', messages: [{ role: 'user', content: 'Tell me of the sea' }] } as const;

const chunk = (content: string): string =>
  `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}\n\n`;
const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
const done = 'data: [DONE]\n\n';
const answer = (...frames: string[]): Exchange => ({ body: Buffer.from(frames.join('')) });
const whole = answer(chunk('a'), chunk('b'), finish, done);

let server: ExchangeServer;

beforeAll(async () => {
  server = await ExchangeServer.start();
});

afterAll(async () => {
  await server.close();
});

const transports = { undici: undiciTransport(), fetch: fetchTransport() };

function clientOf(options: Partial<LlmClientOptions> = {}): ReturnType<typeof createLlmClient> {
  return createLlmClient({ baseUrl: `${server.url}/v1`, ...options });
}

async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; waited < 200 && !holds(); waited++) await delay(5);
  expect(holds()).toBe(true);
}

async function failureOf(source: Observable<unknown>): Promise<LlmStreamError> {
  const { error } = await record(source);
  expect(error).toBeInstanceOf(LlmStreamError);
  return error as LlmStreamError;
}

describe.each(Object.entries(transports))('over %s', (_, transport) => {
  const client = (options: Partial<LlmClientOptions> = {}): ReturnType<typeof createLlmClient> =>
    clientOf({ transport, ...options });

  test('nothing is sent before it is subscribed to, and every subscription sends a request', async () => {
    server.play(whole);
    const source = client().chatCompletions(request);
    await delay(20);
    expect(server.requests).toHaveLength(0);
    await record(source);
    await record(source);
    expect(server.requests).toHaveLength(2);
  });

  test('a request carries the body, the key and what the library adds', async () => {
    server.play(whole);
    await record(client({ apiKey: 'k-1', headers: { 'X-Team': 'sea' } }).chatCompletions(request));
    const [seen] = server.requests;
    expect(seen).toMatchObject({ method: 'POST', url: '/v1/chat/completions' });
    expect(seen?.headers).toMatchObject({
      authorization: 'Bearer k-1',
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'x-team': 'sea',
    });
    expect(seen?.headers['idempotency-key']).toMatch(/^[\w-]{32,}$/);
    expect(JSON.parse(seen?.body ?? '')).toEqual({ ...request, stream: true, stream_options: { include_usage: true } });
  });

  test('unsubscribing in the middle of a read emits nothing more and closes the socket', async () => {
    server.play({ ...answer(chunk('a'), chunk('b'), chunk('c')), keepOpen: true });
    const { values } = await record(client().chatCompletions(request).pipe(take(2)));
    expect(values).toHaveLength(2);
    await until(() => server.requests[0]?.left === true);
  });

  test('unsubscribing before the headers aborts the request', async () => {
    const sockets: Socket[] = [];
    const closed: Socket[] = [];
    const silent = createServer((socket) => {
      sockets.push(socket.on('close', () => closed.push(socket)).resume());
    });
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    const { port } = silent.address() as AddressInfo;
    const subscription = client({ baseUrl: `http://127.0.0.1:${port}` })
      .chatCompletions(request)
      .subscribe();
    await until(() => (sockets[0]?.bytesRead ?? 0) > 0);
    subscription.unsubscribe();
    await until(() => closed[0] === sockets[0]);
    for (const socket of sockets) socket.destroy(); // fetch of Node 20 connects again, and sends nothing
    silent.close();
  });

  test('a server that never closes after the terminator cannot keep the Observable open', async () => {
    server.play({ ...whole, keepOpen: true });
    const begun = Date.now();
    const { values, error } = await record(client().chatCompletions(request));
    expect(error).toBeUndefined();
    expect(values).toHaveLength(3);
    expect(Date.now() - begun).toBeLessThan(900);
    await until(() => server.requests[0]?.left === true);
  });

  test('an aborted signal errors with its own reason, and leaves no listener behind', async () => {
    server.play({ ...answer(chunk('a')), keepOpen: true });
    const controller = new AbortController();
    const reason = new Error('enough');
    const add = jest.spyOn(controller.signal, 'addEventListener');
    const remove = jest.spyOn(controller.signal, 'removeEventListener');
    const result = record(client().chatCompletions(request, { signal: controller.signal }));
    await delay(30);
    controller.abort(reason);
    expect((await result).error).toBe(reason);
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length);
    await until(() => server.requests[0]?.left === true);
  });

  test('a connection that cannot be made is a ConnectionError that may be retried', async () => {
    const gone = await ExchangeServer.start();
    const { url } = gone;
    await gone.close();
    const error = await failureOf(createLlmClient({ baseUrl: url, transport }).chatCompletions(request));
    expect(error).toMatchObject({ kind: 'connection', retryable: true, tokenSeen: false, endpoint: 'chatCompletions' });
    expect(error.message).toContain('ECONNREFUSED');
  });

  test('an HTTP error carries code, message, request id and the time to wait', async () => {
    server.play({
      status: 429,
      headers: { 'content-type': 'application/json', 'retry-after': '2', 'x-request-id': 'req_7' },
      body: Buffer.from('{"error":{"code":"rate_limit_exceeded","type":"requests","message":"Slow down"}}'),
    });
    const error = await failureOf(client().chatCompletions(request));
    expect(error).toBeInstanceOf(HttpResponseError);
    expect(error).toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      type: 'requests',
      requestId: 'req_7',
      retryAfterMs: 2000,
      retryable: true,
    });
    expect(error.message).toContain('Slow down');
  });

  test('the head of the answer reaches onResponse before any event', async () => {
    server.play({
      ...whole,
      headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_8', 'x-ratelimit-remaining-tokens': '9' },
    });
    const seen: unknown[] = [];
    const onResponse = (head: ResponseHead): void =>
      void seen.push(head.status, head.requestId, head.headers['x-ratelimit-remaining-tokens']);
    await firstValueFrom(client().chatCompletions(request, { onResponse }));
    expect(seen).toEqual([200, 'req_8', '9']);
  });

  test('events before a cut are delivered, then it is a TruncatedStreamError', async () => {
    server.play({ ...answer(chunk('a'), chunk('b')), closeAbruptly: true });
    const { values, error } = await record(client().chatCompletions(request));
    expect(values).toHaveLength(2);
    expect(error).toMatchObject({ kind: 'truncated', tokenSeen: true });
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('a body that comes as %s is read all the same', async (encoding, compress) => {
    const body = compress(whole.body as Uint8Array);
    server.play({
      headers: { 'content-type': 'text/event-stream', 'content-encoding': encoding },
      body,
      writes: Array<number>(200).fill(3),
    });
    const { values, error } = await record(client().chatCompletions(request));
    expect(error).toBeUndefined();
    expect(values).toHaveLength(3);
  });

  test('a compressed body that is cut is truncated', async () => {
    const body = gzipSync(whole.body as Uint8Array).subarray(0, 40);
    server.play({ headers: { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }, body });
    expect(await failureOf(client().chatCompletions(request))).toMatchObject({ kind: 'truncated' });
  });
});

test('connections are used again after a normal end, and closed after an abort', async () => {
  const own = await ExchangeServer.start();
  own.play(whole);
  const dispatcher = new Agent({ connections: 1 });
  const client = createLlmClient({ baseUrl: own.url, transport: undiciTransport({ dispatcher }) });
  for (let i = 0; i < 5; i++) await record(client.chatCompletions(request));
  expect(own.sockets.size).toBe(1);
  await record(client.chatCompletions(request).pipe(take(1)));
  await record(client.chatCompletions(request));
  expect(own.sockets.size).toBe(2);
  await dispatcher.close();
  await own.close();
});

test('a MockAgent answers in place of the network', async () => {
  const dispatcher = new MockAgent();
  dispatcher.disableNetConnect();
  dispatcher
    .get('https://gateway.example')
    .intercept({ path: '/v1/chat/completions', method: 'POST' })
    .reply(200, chunk('mock') + finish + done, { headers: { 'content-type': 'text/event-stream' } });
  const client = createLlmClient({ baseUrl: 'https://gateway.example/v1', transport: undiciTransport({ dispatcher }) });
  const { values, error } = await record(client.chatCompletions(request));
  expect(error).toBeUndefined();
  expect(values).toHaveLength(2);
});

describe('credentials', () => {
  test.each([
    ['x-api-key', { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }],
    ['api-key', { 'api-key': 'k' }],
  ] as const)('auth %s puts the key there and nowhere else', async (auth, headers) => {
    server.play(whole);
    await record(clientOf({ apiKey: 'k', auth }).chatCompletions(request));
    expect(server.requests[0]?.headers).toMatchObject(headers);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('a function is asked at each subscription, whatever it gives', async () => {
    server.play(whole);
    let asked = 0;
    const sources = [
      () => `k${++asked}`,
      () => Promise.resolve(`k${++asked}`),
      () => timer(1).pipe(() => of(`k${++asked}`)),
    ];
    for (const apiKey of sources) await record(clientOf({ apiKey }).chatCompletions(request));
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer k1',
      'Bearer k2',
      'Bearer k3',
    ]);
    const again = clientOf({ apiKey: () => Promise.resolve(`k${++asked}`) }).chatCompletions(request);
    await record(again);
    await record(again);
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer k5');
  });

  test('a function that fails or gives nothing sends nothing', async () => {
    server.play(whole);
    for (const apiKey of [() => throwError(() => new Error('vault')), () => new Subject<string>().pipe(take(0))]) {
      const error = await failureOf(clientOf({ apiKey }).chatCompletions(request));
      expect(error).toMatchObject({ kind: 'connection', retryable: false });
      expect(error.message).toContain('`apiKey`');
    }
    const sync = (): never => {
      throw new Error('vault');
    };
    expect(await failureOf(clientOf({ headers: sync }).chatCompletions(request))).toMatchObject({ kind: 'connection' });
    expect(server.requests).toHaveLength(0);
  });

  test('unsubscribing while a key is awaited sends nothing', async () => {
    server.play(whole);
    const subscription = clientOf({ apiKey: () => timer(20).pipe(() => of('k')) }).chatCompletions(request);
    const slow = clientOf({ apiKey: async () => delay(20).then(() => 'k') })
      .chatCompletions(request)
      .subscribe();
    slow.unsubscribe();
    await delay(40);
    expect(server.requests).toHaveLength(0);
    await record(subscription);
  });

  test('a header that would smuggle in another one is refused, and not quoted', async () => {
    server.play(whole);
    const error = await failureOf(clientOf({ apiKey: 'secret-1\r\nx-admin: 1' }).chatCompletions(request));
    expect(error.message).toContain('authorization');
    expect(JSON.stringify(error) + error.message).not.toContain('secret-1');
    expect(await failureOf(clientOf({ headers: { 'x:\n': '1' } }).chatCompletions(request))).toMatchObject({
      kind: 'connection',
    });
    expect(await failureOf(clientOf().chatCompletions(request, { idempotencyKey: 'a\nb' }))).toMatchObject({
      kind: 'connection',
    });
    expect(server.requests).toHaveLength(0);
  });

  test('a word of a header that is no secret stays in the message', async () => {
    server.play({
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"error":"No valid html"}'),
    });
    const headers = { 'x-kind': 'html', 'x-note': 'valid' };
    expect((await failureOf(clientOf({ headers }).chatCompletions(request))).message).toContain('No valid html');
  });

  test('an echoed key or prompt is taken out of the message', async () => {
    server.play({
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(
        JSON.stringify({ error: { message: 'Key secret-key-1 may not say "Tell me of the sea" here' } }),
      ),
    });
    const error = await failureOf(clientOf({ apiKey: 'secret-key-1' }).chatCompletions(request));
    expect(error.message).toContain('[redacted]');
    expect(error.message).not.toMatch(/secret-key-1|of the sea/);
  });
});

describe('baseUrl', () => {
  test.each([
    ['http://h/v1', 'http://h/v1/chat/completions'],
    ['http://h/v1///', 'http://h/v1/chat/completions'],
    ['http://h', 'http://h/chat/completions'],
    ['http://h/v1?api-version=2#x', 'http://h/v1/chat/completions?api-version=2'],
    ['/llm/', '/llm/chat/completions'],
    [new URL('http://h/v1/'), 'http://h/v1/chat/completions'],
  ])('%s', async (baseUrl, url) => {
    let sent: string | undefined;
    await record(
      createLlmClient({
        baseUrl,
        transport: (given) => {
          sent = given.url;
          return new Observable((subscriber) => {
            subscriber.complete();
          });
        },
      }).chatCompletions(request),
    );
    expect(sent).toBe(url);
  });

  test.each(['', 'gateway.example', 'ftp://h/v1', 'localhost:8080/v1', 'http://user:pass@h/v1', 'http://'])(
    '%j is refused at once',
    (baseUrl) => {
      expect(() => createLlmClient({ baseUrl })).toThrow(TypeError);
      expect(() => createLlmClient({ baseUrl })).not.toThrow(/pass/);
    },
  );

  test('an address that Node cannot resolve is not tried again', async () => {
    expect(await failureOf(createLlmClient({ baseUrl: '/v1' }).chatCompletions(request))).toMatchObject({
      kind: 'connection',
      retryable: false,
    });
  });

  test('paths replace the defaults, query included', async () => {
    server.play(whole);
    await record(clientOf({ paths: { chatCompletions: 'deployments/x/chat?v=2' } }).chatCompletions(request));
    expect(server.requests[0]?.url).toBe('/v1/deployments/x/chat?v=2');
  });
});

test('an event over maxEventBytes is an EventTooLargeError, however it is cut', async () => {
  for (const writes of [[], Array<number>(40).fill(30)]) {
    server.play({ ...answer(chunk('a'), chunk('x'.repeat(1000)), finish, done), writes });
    const { values, error } = await record(clientOf({ maxEventBytes: 500 }).chatCompletions(request));
    expect(values).toHaveLength(1);
    expect(error).toMatchObject({ kind: 'limit', tokenSeen: true });
  }
});

test('a line that never ends is stopped at maxEventBytes, without its end', async () => {
  server.play({ body: Buffer.from(`data: ${'x'.repeat(2000)}`), keepOpen: true });
  expect(await failureOf(clientOf({ maxEventBytes: 1000 }).chatCompletions(request))).toMatchObject({ kind: 'limit' });
});

test('small events in one read do not add up to a large one', async () => {
  server.play(answer(...Array<string>(500).fill(chunk('a')), finish, done));
  const { values, error } = await record(clientOf({ maxEventBytes: 100 }).chatCompletions(request));
  expect(error).toBeUndefined();
  expect(values).toHaveLength(501);
});

test('a subscriber that throws does not stop the stream of others', async () => {
  server.play(whole);
  const reported: unknown[] = [];
  const { config } = jest.requireActual<typeof import('rxjs')>('rxjs');
  config.onUnhandledError = (error) => reported.push(error);
  const source = clientOf().chatCompletions(request);
  source.subscribe(() => {
    throw new Error('mine');
  });
  expect((await record(source)).error).toBeUndefined();
  await until(() => reported.length === 3);
  config.onUnhandledError = null;
});

test('a clock that is given as undefined keeps its default, and 0 switches it off', async () => {
  server.play({ ...answer(chunk('a')), keepOpen: true });
  const timeouts = { idleMs: 40 };
  const source = (own: object): Observable<unknown> =>
    clientOf({ timeouts }).chatCompletions(request, { timeouts: own });
  expect(await failureOf(source({ idleMs: undefined }))).toMatchObject({ kind: 'timeout', phase: 'idle' });
  expect(await failureOf(source({ idleMs: 0, totalMs: 80 }))).toMatchObject({ kind: 'timeout', phase: 'total' });
});

test('retry of RxJS sends again, with credentials asked for again', async () => {
  server.play({ status: 500 }, whole);
  let asked = 0;
  const { values } = await record(
    clientOf({ apiKey: () => `k${++asked}` })
      .chatCompletions(request)
      .pipe(retry(1)),
  );
  expect(values).toHaveLength(3);
  expect(asked).toBe(2);
});
