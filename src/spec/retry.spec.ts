import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { asyncScheduler, merge, repeat, share, subscribeOn, switchMap, take, tap, timer, type Observable } from 'rxjs';
import {
  createLlmClient,
  fallbackBeforeFirstToken,
  retryBeforeFirstToken,
  streamTimeout,
  textDeltas,
  type ChatCompletionChunk,
  type LlmClient,
  type LlmClientOptions,
  type LlmStreamError,
  type RetryInfo,
} from 'rx-llm';
import { chat, messages } from 'rx-llm/testing';
import { ExchangeServer, type Exchange } from './support/exchange-server.js';
import { record } from './support/reading.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const stream = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

const role = stream(chat.role());
const good: Exchange = { body: bytes(`${stream(...chat.turn(['Hel', 'lo']))}data: [DONE]\n\n`) };
const refusal = (
  status: number,
  headers: Record<string, string> = {},
  error: object = { message: 'no' },
): Exchange => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: bytes(JSON.stringify({ error })),
});
/** As quick as a test may be; the waits of the server's own stay. */
const quick = { delay: 1 };

let server: ExchangeServer;
let other: ExchangeServer;

beforeAll(async () => {
  [server, other] = await Promise.all([ExchangeServer.start(), ExchangeServer.start()]);
});
afterAll(async () => {
  await Promise.all([server.close(), other.close()]);
});

const clientOf = (of: ExchangeServer, options: Partial<LlmClientOptions> = {}): LlmClient =>
  createLlmClient({ baseUrl: `${of.url}/v1`, ...options });
const ask = (options?: Partial<LlmClientOptions>): Observable<ChatCompletionChunk> =>
  clientOf(server, options).chatCompletions({ model: 'm', messages: [] });
const keys = (of = server, header = 'idempotency-key'): unknown[] => of.requests.map(({ headers }) => headers[header]);
const until = async (holds: () => boolean): Promise<void> => {
  for (let i = 0; i < 200 && !holds(); i++) await pause(5);
  expect(holds()).toBe(true);
};
/** The error that a subscriber got. */
const errorOf = async (source: Observable<unknown>): Promise<LlmStreamError> =>
  (await record(source)).error as LlmStreamError;

describe('how long the server is waited for', () => {
  it.each([
    ['retry-after-ms', { 'retry-after-ms': '120', 'retry-after': '30' }, 120, 120],
    ['Retry-After in seconds', { 'retry-after': '0.15' }, 150, 150],
    [
      "Retry-After as a date, by the server's own clock",
      { 'retry-after': 'Sat, 01 Jan 2000 00:00:01 GMT', date: 'Sat, 01 Jan 2000 00:00:00 GMT' },
      1000,
      1000,
    ],
    ['nothing of use in garbage', { 'retry-after': 'soon' }, undefined, 1],
    ['nothing of use in a negative wait', { 'retry-after': '-3', 'retry-after-ms': '-1' }, undefined, 1],
    ['nothing of use in a date that has passed', { 'retry-after': 'Wed, 01 Jan 2020 00:00:00 GMT' }, undefined, 1],
  ])('%s', async (_, headers, retryAfterMs, atLeast) => {
    server.play(refusal(429, headers), good);
    const infos: RetryInfo[] = [];
    const { values, error } = await record(
      ask().pipe(
        retryBeforeFirstToken({ ...quick, random: () => 0, onRetry: (info) => infos.push(info) }),
        textDeltas(),
      ),
    );
    expect({ text: values.join(''), error }).toEqual({ text: 'Hello', error: undefined });
    expect(infos).toEqual([
      { error: expect.objectContaining({ status: 429, retryAfterMs }), attempt: 1, delayMs: atLeast, phase: 'http' },
    ]);
    const [first, second] = server.requests;
    // A timer may be a millisecond early by the clock of another.
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(atLeast - 2);
    expect(second!.at - first!.at).toBeLessThan(atLeast + 600);
  });

  it.each([
    ['seconds', '61'],
    ['digits without end', '9'.repeat(400)],
    ['a date', new Date(Date.now() + 3_600_000).toUTCString()],
  ])('no longer than a minute, asked for in %s', async (_, wait) => {
    server.play(refusal(429, { 'retry-after': wait }), good);
    const error = await errorOf(ask().pipe(retryBeforeFirstToken(quick)));
    expect(error).toMatchObject({ kind: 'http', status: 429 });
    expect(error.retryAfterMs).toBeGreaterThan(60_000);
    expect(server.requests).toHaveLength(1);
  });
});

describe('what is asked for again', () => {
  it.each([408, 409, 425, 429, 500, 502, 503, 529])('%d', async (status) => {
    server.play(refusal(status), good);
    const { error } = await record(ask().pipe(retryBeforeFirstToken(quick)));
    expect(error).toBeUndefined();
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['400', refusal(400)],
    ['401', refusal(401)],
    ['402', refusal(402)],
    ['403', refusal(403)],
    ['404', refusal(404)],
    ['422', refusal(422)],
    ['insufficient_quota', refusal(429, {}, { code: 'insufficient_quota', type: 'insufficient_quota' })],
    [
      'a spend limit',
      refusal(429, {}, { type: 'rate_limit_error', details: { error_code: 'enforced_spend_limit_reached' } }),
    ],
    ['x-should-retry: false', refusal(503, { 'x-should-retry': 'false' })],
    [
      'partial_stream',
      {
        body: bytes(
          `${role}data: {"error":{"type":"partial_stream","code":"upstream","message":"cut"}}\n\ndata: [DONE]\n\n`,
        ),
      },
    ],
  ])('not %s', async (_, exchange) => {
    server.play(exchange, good);
    const error = await errorOf(ask().pipe(retryBeforeFirstToken(quick)));
    expect(error.retryable).toBe(false);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['what the server wants to be asked again', refusal(400, { 'x-should-retry': 'true' })],
    ['a stream that is cut before its token', { body: bytes(role) }],
    ['a connection that breaks before the token', { body: bytes(role), closeAbruptly: true }],
    ['a stream without anything', { body: bytes(': hello\n\n') }],
    ['an overload that the stream reports', { body: bytes('data: {"error":{"code":529,"message":"overloaded"}}\n\n') }],
    [
      'stream_error, after which nothing was delivered',
      {
        body: bytes(
          `${role}data: {"type":"stream_error","code":"stream_error","message":"failed"}\n\ndata: [DONE]\n\n`,
        ),
      },
    ],
  ])('%s', async (_, exchange) => {
    server.play(exchange, good);
    const { values, error } = await record(ask().pipe(retryBeforeFirstToken(quick)));
    expect(error).toBeUndefined();
    expect(server.requests).toHaveLength(2);
    expect(values).toEqual(chat.turn(['Hel', 'lo']));
  });

  it('not a stream that breaks after a token', async () => {
    server.play({ body: bytes(role + stream(chat.text('Hel'))), closeAbruptly: true }, good);
    const { values, error } = await record(ask().pipe(retryBeforeFirstToken({ ...quick, shouldRetry: () => true })));
    expect(values).toHaveLength(2);
    expect(error).toMatchObject({ kind: 'truncated', tokenSeen: true });
    await pause(50);
    expect(server.requests).toHaveLength(1);
  });

  it('a server that refuses the connection, by its phase', async () => {
    const closed = createServer();
    await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
    const { port } = closed.address() as AddressInfo;
    await new Promise((done) => closed.close(done));

    const phases: string[] = [];
    const client = createLlmClient({ baseUrl: `http://127.0.0.1:${port}/v1` });
    const error = await errorOf(
      client
        .chatCompletions({ model: 'm', messages: [] })
        .pipe(retryBeforeFirstToken({ ...quick, onRetry: ({ phase }) => phases.push(phase) })),
    );
    expect(error.kind).toBe('connection');
    expect(phases).toEqual(['connection', 'connection']);
  });

  it('a server that sends nothing, when a clock stands before the retry', async () => {
    server.play({ body: bytes(role), keepOpen: true }, good);
    const { values } = await record(
      ask().pipe(streamTimeout({ firstTokenMs: 40 }), retryBeforeFirstToken(quick), textDeltas()),
    );
    expect(values.join('')).toBe('Hello');
    await until(() => server.requests[0]!.left);
  });

  it('the last error, with the preamble before it, when no try is left', async () => {
    server.play({ body: bytes(role) });
    const { values, error } = await record(ask().pipe(retryBeforeFirstToken(quick)));
    expect(values).toEqual([chat.role()]);
    expect(error).toMatchObject({ kind: 'truncated', tokenSeen: false });
    expect(server.requests).toHaveLength(3);
  });
});

describe('the idempotency key', () => {
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

  it('is one for all tries of a subscription, and another one for the next', async () => {
    const source = ask().pipe(retryBeforeFirstToken(quick));
    server.play(refusal(503), refusal(503), good);
    await record(source);
    const [first, ...rest] = keys();
    expect(first).toMatch(uuid);
    expect(rest).toEqual([first, first]);
    server.play(good);
    await record(source);
    expect(keys()[0]).toMatch(uuid);
    expect(keys()[0]).not.toBe(first);
  });

  it('is that of the outer-most retry', async () => {
    server.play(refusal(503), refusal(503), refusal(503), good);
    const once = { ...quick, count: 1 };
    await record(ask().pipe(retryBeforeFirstToken(once), retryBeforeFirstToken(once)));
    expect(keys()).toHaveLength(4);
    expect(new Set(keys()).size).toBe(1);
  });

  it('is a new one for each repeat', async () => {
    server.play(refusal(503), good, refusal(503), good);
    await record(ask().pipe(retryBeforeFirstToken(quick), repeat(2)));
    const [a, b, c, d] = keys();
    expect([b, d]).toEqual([a, c]);
    expect(c).not.toBe(a);
  });

  it('is another one after a switchMap, which forgets the wait of the request before', async () => {
    server.play(refusal(503, { 'retry-after': '0.3' }), good);
    const questions = timer(0, 60).pipe(take(2));
    await record(questions.pipe(switchMap(() => ask().pipe(retryBeforeFirstToken(quick)))));
    await pause(400);
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(2);
  });

  it('is one for all subscribers of a share', async () => {
    server.play(refusal(503), good);
    const shared = ask().pipe(retryBeforeFirstToken(quick), share());
    const [one, two] = await Promise.all([record(shared), record(shared)]);
    expect(one).toEqual({ values: chat.turn(['Hel', 'lo']), error: undefined });
    expect(two).toEqual(one);
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(1);
  });

  it('is another one for each try behind an asynchronous hop', async () => {
    server.play(refusal(503), good);
    await record(ask().pipe(subscribeOn(asyncScheduler), retryBeforeFirstToken(quick)));
    expect(keys()).toEqual([expect.stringMatching(uuid), expect.stringMatching(uuid)]);
    expect(new Set(keys()).size).toBe(2);
  });

  it('differs between the requests that one retry has under it, and each keeps its own', async () => {
    server.play(refusal(503), refusal(503), good);
    await record(merge(ask(), ask()).pipe(retryBeforeFirstToken({ ...quick, delay: 30 })));
    const [a, b, c, d] = keys();
    expect(new Set(keys()).size).toBe(2);
    expect([c, d].sort()).toEqual([a, b].sort());
  });

  it("goes by the caller's own, and into the header that was asked for", async () => {
    server.play(refusal(503), good);
    await record(
      clientOf(server)
        .chatCompletions({ model: 'm', messages: [] }, { idempotencyKey: 'mine' })
        .pipe(retryBeforeFirstToken({ ...quick, idempotencyHeader: 'X-Request-Key' })),
    );
    expect(keys(server, 'x-request-key')).toEqual(['mine', 'mine']);
    expect(keys()).toEqual([undefined, undefined]);
  });
});

test('credentials and headers are asked for again on each try', async () => {
  server.play(refusal(503), refusal(503), good);
  let asked = 0;
  const source = ask({
    apiKey: () => Promise.resolve(`key-${++asked}`),
    headers: () => ({ 'x-try': String(asked) }),
  });
  await record(source.pipe(retryBeforeFirstToken(quick)));
  expect(server.requests.map(({ headers }) => [headers.authorization, headers['x-try']])).toEqual([
    ['Bearer key-1', '1'],
    ['Bearer key-2', '2'],
    ['Bearer key-3', '3'],
  ]);
});

test('unsubscribing while waiting sends nothing more', async () => {
  server.play(refusal(503, { 'retry-after': '0.2' }), good);
  let waiting = false;
  const subscription = ask()
    .pipe(retryBeforeFirstToken({ onRetry: () => (waiting = true) }))
    .subscribe();
  await until(() => waiting);
  subscription.unsubscribe();
  await pause(300);
  expect(server.requests).toHaveLength(1);
});

test('an abort while waiting is not retried', async () => {
  server.play(refusal(503, { 'retry-after': '30' }), good);
  const controller = new AbortController();
  const source = clientOf(server).chatCompletions({ model: 'm', messages: [] }, { signal: controller.signal });
  const error = await errorOf(
    source.pipe(retryBeforeFirstToken({ delay: () => (controller.abort(), 1), shouldRetry: () => true })),
  );
  expect(error.name).toBe('AbortError');
  expect(server.requests).toHaveLength(1);
});

describe('falling back', () => {
  const backup = (): Observable<object> => clientOf(other).messages({ model: 'm', max_tokens: 9, messages: [] });
  const answer: Exchange = { body: bytes(stream(...messages.turn('Good morning'))) };

  it('asks the next gateway, once the first is gone from the wire', async () => {
    server.play({ body: bytes(role), keepOpen: true });
    other.play(answer);
    let gone: boolean | undefined;
    const next = timer(20).pipe(
      tap(() => (gone = server.requests[0]!.socket.destroyed)),
      switchMap(backup),
    );
    const { values, error } = await record(
      ask({ timeouts: { firstTokenMs: 50 } }).pipe(fallbackBeforeFirstToken(next)),
    );
    expect(error).toBeUndefined();
    expect(gone).toBe(true);
    expect(values).toEqual(messages.turn('Good morning'));
    expect([server.requests.length, other.requests.length]).toEqual([1, 1]);
  });

  it('keeps the errors of all of them', async () => {
    server.play(refusal(401));
    other.play(refusal(404));
    const error = await errorOf(ask().pipe(fallbackBeforeFirstToken(backup)));
    expect(error).toMatchObject({ status: 404, endpoint: 'messages' });
    expect(error.errors).toMatchObject([{ status: 401 }, { status: 404 }]);
  });

  it('composes with retries in either order, with one key for each request of a subscription', async () => {
    server.play(refusal(503));
    other.play(refusal(503), answer);
    const { error } = await record(ask().pipe(fallbackBeforeFirstToken(backup()), retryBeforeFirstToken(quick)));
    expect(error).toBeUndefined();
    expect([server.requests.length, other.requests.length]).toEqual([2, 2]);
    expect(new Set(keys()).size).toBe(1);
    expect(new Set(keys(other)).size).toBe(1);
    expect(keys(other)[0]).not.toBe(keys()[0]);

    server.play(refusal(503));
    other.play(answer);
    await record(ask().pipe(retryBeforeFirstToken(quick), fallbackBeforeFirstToken(backup())));
    expect([server.requests.length, other.requests.length]).toEqual([3, 1]);
    expect(new Set(keys()).size).toBe(1);
  });

  it('stays where a token came from', async () => {
    server.play({ body: bytes(stream(chat.text('Hel'))), closeAbruptly: true });
    other.play(answer);
    const error = await errorOf(ask().pipe(textDeltas(), fallbackBeforeFirstToken(backup())));
    expect(error).toMatchObject({ kind: 'truncated', tokenSeen: true });
    expect(other.requests).toHaveLength(0);
  });
});
