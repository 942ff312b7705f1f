import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { from, throwError, type Observable } from 'rxjs';
import ts from 'typescript';
import {
  LlmStreamError,
  accumulateMessage,
  accumulateText,
  accumulateToolCalls,
  annotations,
  createLlmClient,
  fetchTransport,
  finalReceipt,
  partialImages,
  streamState,
  toServerSentEvents,
  toolCalls,
  type LlmClientOptions,
  type LlmErrorKind,
  type Transport,
} from 'rx-llm';
import { undiciTransport } from 'rx-llm/undici';
import { TestScheduler } from 'rxjs/testing';
import { DATA } from './support/cases.js';
import { data, done, finish, inMemory, text } from './support/chunks.js';
import { RawServer, head, type RawAnswer } from './support/raw-server.js';
import { open, readRecorded, record, type WireName } from './support/reading.js';

const KEY = 'sk-live-5f3e9a7c';
const TEAM = 'team-hush-hush';
const QUERY = 'q/s3cret+token';
const PROMPT = 'My bank PIN is 0911, and the dog is called Rufus.\nWhat "name" would you give a cat?';
const SHORT = 'pw:9911';
const PAYLOAD = 'the-payload-of-the-answer';
/** No part of any of these may show. */
const SECRETS = [KEY, TEAM, QUERY, 's3cret', 'PIN is 0911', 'called Rufus', 'would you give', SHORT, PAYLOAD];

const request = {
  model: 'm',
  messages: [
    { role: 'user', content: PROMPT },
    { role: 'user', content: [{ type: 'text', text: SHORT }] },
  ],
} as const;

const secretive = (options: Partial<LlmClientOptions>): Observable<object> =>
  createLlmClient({
    baseUrl: `https://gateway.example/v1?key=${encodeURIComponent(QUERY)}`,
    apiKey: KEY,
    headers: { 'x-team': TEAM },
    ...options,
  }).chatCompletions(request);

/** All that a logger, a printer or a reader of causes can make of an error. */
function shown(error: unknown, depth = 0): string {
  if (!(error instanceof Error) && Object(error) !== error) return String(error);
  const { message, stack, cause } = error as Error;
  const own = Reflect.ownKeys(error as object).map((key) => {
    const value: unknown = Reflect.get(error as object, key);
    return `${String(key)}: ${typeof value === 'object' ? inspect(value, { depth: 10, showHidden: true }) : String(value)}`;
  });
  return [
    message,
    stack,
    String(error),
    JSON.stringify(error),
    inspect(error, { depth: 10, showHidden: true }),
    ...own,
    ...(cause !== undefined && depth < 10 ? [shown(cause, depth + 1)] : []),
  ].join('\n');
}

async function failureOf(source: Observable<object>): Promise<LlmStreamError> {
  const { error } = await record(source);
  expect(error).toBeInstanceOf(LlmStreamError);
  return error as LlmStreamError;
}

describe('an error shows neither key, header, prompt nor payload', () => {
  const echo = `${KEY} ${TEAM} key=${encodeURIComponent(QUERY)} ${QUERY} said ${PROMPT} and ${SHORT}`;
  const json = { 'content-type': 'application/json' };
  const carrier = (): Error =>
    Object.assign(new Error(`failed for ${echo}`, { cause: { config: { headers: { authorization: KEY } }, PROMPT } }), {
      code: 'ECONNRESET',
      config: { headers: { authorization: `Bearer ${KEY}`, 'x-team': TEAM }, body: JSON.stringify(request) },
      data: PAYLOAD,
      request: { url: `https://gateway.example/v1?key=${QUERY}` },
    });
  const broken =
    (error: unknown, ...chunks: string[]): Transport =>
    (sent) =>
      inMemory((body) => {
        for (const chunk of chunks) body.next(chunk);
        body.error(error);
      })(sent);

  test.each<[string, LlmErrorKind, Partial<LlmClientOptions>]>([
    [
      'an HTTP error',
      'http',
      {
        transport: inMemory([JSON.stringify({ error: { message: echo, code: 'bad' } })], {
          status: 400,
          headers: json,
        }),
      },
    ],
    [
      'an HTTP error that quotes a part of the prompt',
      'http',
      {
        transport: inMemory([JSON.stringify({ error: { message: `Refused: "${PROMPT.slice(0, 40)}…"` } })], {
          status: 400,
          headers: json,
        }),
      },
    ],
    [
      'an HTTP error whose code is no code',
      'http',
      {
        transport: inMemory([JSON.stringify({ error: { code: PAYLOAD.repeat(20), type: PAYLOAD.repeat(20) } })], {
          status: 500,
          headers: json,
        }),
      },
    ],
    [
      'an HTTP error that is no JSON',
      'http',
      { transport: inMemory([echo], { status: 502, headers: { 'content-type': `text/${KEY}` } }) },
    ],
    ['a page', 'http', { transport: inMemory([`<html><p>${echo}`], { headers: { 'content-type': 'text/html' } }) }],
    [
      'a whole answer',
      'http',
      {
        transport: inMemory([JSON.stringify({ choices: [{ message: { content: PAYLOAD } }] })], { headers: json }),
      },
    ],
    [
      'a redirect',
      'http',
      {
        transport: inMemory([], { status: 307, headers: { location: `https://${TEAM}.example/${KEY}?key=${QUERY}` } }),
      },
    ],
    [
      'a failure in the stream',
      'in-band',
      {
        transport: inMemory([
          text(PAYLOAD),
          data({ error: { message: echo, code: 'overloaded', metadata: { raw: PAYLOAD } } }),
        ]),
      },
    ],
    [
      'a failure beside content',
      'in-band',
      {
        transport: inMemory([
          data({ choices: [{ delta: { content: PAYLOAD }, finish_reason: 'error' }], error: { message: echo } }),
        ]),
      },
    ],
    [
      'an error event in plain words',
      'in-band',
      { transport: inMemory([`event: error\ndata: ${echo.replace('\n', ' ')}\n\n`]) },
    ],
    [
      'a frame that is no JSON',
      'malformed',
      { transport: inMemory([`data: {"choices":[{"delta":{"content":"${PAYLOAD}\n\n`]) },
    ],
    ['a frame that is too large', 'limit', { transport: inMemory([text(PAYLOAD.repeat(50))]), maxEventBytes: 500 }],
    ['a cut', 'truncated', { transport: inMemory([text(PAYLOAD)]) }],
    [
      'a connection that breaks with an error that carries things',
      'truncated',
      { transport: broken(carrier(), text(PAYLOAD)) },
    ],
    ['a body that fails with a string', 'truncated', { transport: broken(`what? ${echo}`) }],
    ['a body that fails with something odd', 'truncated', { transport: broken(Object.create(null)) }],
    ['no response, with an error that carries things', 'connection', { transport: () => throwError(carrier) }],
    [
      'a transport that throws',
      'connection',
      {
        transport: () => {
          throw carrier();
        },
      },
    ],
    [
      'a relative address where there is no page',
      'connection',
      { baseUrl: `/v1?key=${QUERY}`, transport: undiciTransport() },
    ],
    ['the same, over fetch', 'connection', { baseUrl: `/v1?key=${QUERY}`, transport: fetchTransport() }],
    ['a key that no header may hold', 'connection', { apiKey: `${KEY}\n${KEY}` }],
    ['a header that no header may be', 'connection', { headers: { 'x-team': TEAM, [`x ${TEAM}`]: TEAM } }],
    [
      'a key that cannot be had',
      'connection',
      { apiKey: () => throwError(() => Object.assign(carrier(), { message: 'vault' })) },
    ],
    ['a timeout', 'timeout', { transport: inMemory((body) => body.next(text(PAYLOAD))), timeouts: { totalMs: 5 } }],
  ])('%s', async (_, kind, options) => {
    const error = await failureOf(secretive(options));
    expect(error.kind).toBe(kind);
    const all = shown(error);
    for (const secret of SECRETS) expect(all).not.toContain(secret);
    expect(error.message.length).toBeLessThan(500);
  });

  test.each<[string, RawAnswer]>([
    ['no HTTP', (socket) => void socket.end(`HTTP/9 ${KEY} ${PROMPT} ${PAYLOAD}\r\n\r\n`)],
    ['a chunk that is none', (socket) => void socket.end(`${head()}zz ${KEY} ${PAYLOAD}\r\n\r\n`)],
    ['too much', (socket) => void socket.end(`${head({ 'content-length': 4 })}${KEY} ${PAYLOAD}`)],
  ])('a server that answers with %s', async (_, answer) => {
    const server = await RawServer.start(answer);
    for (const transport of [undiciTransport(), fetchTransport()]) {
      const all = shown(await failureOf(secretive({ baseUrl: server.url, transport })));
      for (const secret of SECRETS) expect(all).not.toContain(secret);
    }
    await server.close();
  });

  test('what a cause says is kept: its name, message, code and own cause', async () => {
    const cause = Object.assign(
      new TypeError('fetch failed', { cause: Object.assign(new Error('read'), { code: 'EPIPE' }) }),
      {
        code: 'E1',
      },
    );
    const error = await failureOf(secretive({ transport: () => throwError(() => cause) }));
    expect(error.message).toContain('(E1)');
    expect(error.cause).toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      code: 'E1',
      cause: { code: 'EPIPE' },
    });
    expect((error.cause as Error).stack).toContain('abuse.spec');
  });

  test('the event that reported the failure is there for who asks for it', async () => {
    const frame = { error: { message: 'no', code: 'c' } };
    const error = await failureOf(secretive({ transport: inMemory([data(frame)]) }));
    expect(error.event).toEqual(frame);
    expect(Object.keys(error)).not.toContain('event');
  });

  test('words of the wire are not taken for the prompt', async () => {
    const answer = JSON.stringify({ error: { message: 'No user has such a text model' } });
    const error = await failureOf(secretive({ transport: inMemory([answer], { status: 404, headers: json }) }));
    expect(error.message).toContain('No user has such a text model');
  });

  test('a long conversation and a long message are gone through quickly', async () => {
    const messages = Array.from({ length: 20_000 }, (_, i) => ({
      role: 'user' as const,
      content: `turn ${i} `.repeat(20),
    }));
    const answer = JSON.stringify({ error: { message: 'the same again '.repeat(4000) } });
    const client = createLlmClient({
      baseUrl: 'https://gateway.example/v1',
      transport: inMemory([answer], { status: 400, headers: json }),
    });
    const begun = process.cpuUsage();
    await failureOf(client.chatCompletions({ model: 'm', messages }));
    expect(secondsSince(begun)).toBeLessThan(2);
  });
});

function secondsSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1e6;
}

describe('nothing is sent with a header that is not one', () => {
  const bad = ['a\r\nx-admin: 1', 'a\nb', 'a\rb', 'a\0b', 'ключ', 'a\u2028b', '\x7f'];
  let sent = 0;
  const client = (options: Partial<LlmClientOptions>): Observable<object> =>
    secretive({ ...options, transport: (given) => (sent++, inMemory([done])(given)) });

  test.each(bad.map((value) => [value]))('%j', async (value) => {
    sent = 0;
    const sources = [
      client({ apiKey: value }),
      client({ apiKey: () => Promise.resolve(value) }),
      client({ apiKey: value, auth: 'x-api-key' }),
      client({ headers: { 'x-a': value } }),
      client({ headers: () => ({ [value]: 'x' }) }),
      client({ headers: { 'idempotency-key': value } }),
      client({ headers: { 'x-a': 5 as unknown as string } }),
      client({ idempotencyHeader: value }),
    ];
    for (const source of sources) {
      const error = await failureOf(source);
      expect(error).toMatchObject({ kind: 'connection', retryable: false });
      expect(error.message).toContain('Nothing was sent');
      expect(error.message).not.toContain(value);
    }
    expect(sent).toBe(0);
  });
});

describe.each(Object.entries({ undici: undiciTransport(), fetch: fetchTransport() }))(
  'redirects, over %s',
  (_, transport) => {
    test.each([301, 302, 303, 307, 308])('%d is not followed, and nothing leaves for another host', async (status) => {
      const other = await RawServer.start((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
      for (const location of [`${other.url}/v2?key=abc`, `//127.0.0.1:${other.port}/v2`]) {
        const server = await RawServer.start((socket) => {
          socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
        });
        const error = await failureOf(secretive({ baseUrl: server.url, transport }));
        expect(error).toMatchObject({ kind: 'http', status, retryable: false });
        expect(error.message).toContain('/v2, which is not followed');
        expect(error.message).not.toContain('abc');
        expect(server.requests).toHaveLength(1);
        await server.close();
      }
      expect(other.sockets).toHaveLength(0);
      await other.close();
    });
  },
);

describe('baseUrl', () => {
  test.each([
    ['http://h/v1?to=a?b&c=d', 'http://h/v1/chat/completions?to=a?b&c=d'],
    ['http://h/v1/?', 'http://h/v1/chat/completions'],
    [' http://h/v1 ', 'http://h/v1/chat/completions'],
    ['HTTPS://H/v1', 'HTTPS://H/v1/chat/completions'],
    ['//h/v1/', '//h/v1/chat/completions'],
    ['./v1', './v1/chat/completions'],
    ['/', '/chat/completions'],
    ['http://[::1]:80/v1', 'http://[::1]:80/v1/chat/completions'],
  ])('%s', async (baseUrl, url) => {
    let sent: string | undefined;
    await record(
      createLlmClient({ baseUrl, transport: (given) => ((sent = given.url), inMemory([done])(given)) }).chatCompletions(
        request,
      ),
    );
    expect(sent).toBe(url);
  });

  test.each([
    '//user:pass@h/v1',
    '\\\\user:pass@h/v1',
    'https://user@h',
    'file:///v1',
    'javascript:pass',
    'data:pass',
    'http://h:pass/',
  ])('%s is refused at once, and not quoted', (baseUrl) => {
    expect(() => createLlmClient({ baseUrl })).toThrow(TypeError);
    expect(() => createLlmClient({ baseUrl })).not.toThrow(/pass|user/);
  });
});

/** Everything that reads events, run over them. */
async function readAll(events: readonly object[], unwritable = false): Promise<void> {
  readRecorded(events, undefined);
  const source = from(events) as Observable<never>;
  for (const operator of [
    accumulateMessage(),
    accumulateText(),
    accumulateToolCalls({ partialInput: true }),
    annotations(),
    finalReceipt(),
    partialImages(),
    streamState(),
    ...(unwritable ? [] : [toServerSentEvents()]),
    toolCalls(),
  ]) {
    const { error: raised } = await record(source.pipe(operator as never));
    if (raised !== undefined) throw raised as Error;
  }
}

const evil =
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1},"toString":1,"hasOwnProperty":1}';
const chatCall = (args: unknown): object => ({
  choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: args } }] } }],
});

/** A call whose arguments are `json`, on every endpoint that has tools, as text and as the value itself. */
const calls = (json: string): Record<string, string[]> => ({
  chat: [data(chatCall(json)), finish, done],
  'chat, with the value itself': [
    `data: ${JSON.stringify(chatCall(0)).replace('"arguments":0', `"arguments":${json}`)}\n\n`,
    finish,
    done,
  ],
  responses: [
    data({
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'function_call', id: 'i', call_id: 'c', name: 'f', arguments: '' },
    }),
    data({ type: 'response.function_call_arguments.delta', item_id: 'i', output_index: 0, delta: json }),
    data({
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'function_call', id: 'i', call_id: 'c', name: 'f', arguments: json },
    }),
    data({
      type: 'response.completed',
      response: {
        status: 'completed',
        output: [{ type: 'function_call', id: 'i', call_id: 'c', name: 'f', arguments: json }],
      },
    }),
  ],
  messages: [
    data({ type: 'message_start', message: { content: [] } }),
    data({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'c', name: 'f', input: {} } }),
    data({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json } }),
    data({ type: 'content_block_stop', index: 0 }),
    data({ type: 'message_delta', delta: { stop_reason: 'tool_use' } }),
    data({ type: 'message_stop' }),
  ],
});

async function eventsOf(endpoint: string, chunks: string[]): Promise<object[]> {
  const client = createLlmClient({ baseUrl: 'http://h', transport: inMemory(chunks) });
  const { values, error } = await record(open(client, endpoint.split(',')[0] as WireName, { model: 'm' }));
  if (error !== undefined) throw error as Error;
  return values;
}

describe('names that JavaScript has a meaning for do no harm', () => {
  test.each(Object.entries(calls(evil)))('in the arguments of a tool: %s', async (endpoint, chunks) => {
    const events = await eventsOf(endpoint, chunks);
    await readAll(events);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const [call] = readRecorded(events, undefined).toolCalls;
    expect(Object.keys(call?.input as object)).toEqual(Object.keys(JSON.parse(evil) as object));
    expect(Object.getPrototypeOf(call?.input)).toBe(Object.prototype);
  });

  test.each(['chat', 'responses', 'messages', 'images'] as const)('anywhere in an event: %s', async (endpoint) => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'then', 'length'];
    const frames = names.flatMap((name) => [
      `data: {"type":"${name}","${name}":{"polluted":1}}\n\n`,
      `event: ${name}\ndata: {"item_id":"${name}","index":"${name}","output_index":"${name}","delta":{"${name}":{"polluted":1}}}\n\n`,
      `data: {"choices":[{"index":"${name}","delta":{"content":"a","${name}":{"polluted":1},"tool_calls":[{"index":"${name}","id":"${name}","function":{"name":"${name}","arguments":"{}"}}]}}]}\n\n`,
      `data: {"type":"content_block_start","index":"${name}","content_block":{"type":"tool_use","id":"${name}","name":"${name}","${name}":{"polluted":1}}}\n\n`,
      `data: {"type":"response.output_item.added","output_index":"${name}","item":{"type":"function_call","id":"${name}","call_id":"${name}","${name}":{"polluted":1}}}\n\n`,
    ]);
    const client = createLlmClient({ baseUrl: 'http://h', transport: inMemory(frames) });
    const { values, error } = await record(open(client, endpoint));
    expect(error).toBeInstanceOf(LlmStreamError);
    await readAll(values);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('arguments nested a hundred thousand levels deep do no harm', () => {
  const deep = 100_000;
  test.each([
    ['lists', '['.repeat(deep) + ']'.repeat(deep)],
    ['objects', '{"a":'.repeat(deep) + '1' + '}'.repeat(deep)],
    ['lists that are cut', '['.repeat(deep)],
  ])('%s', async (_, json) => {
    for (const [endpoint, chunks] of Object.entries(calls(json))) {
      if (endpoint.includes(',') && !json.endsWith(']')) continue;
      const events = await eventsOf(endpoint, chunks);
      const begun = process.cpuUsage();
      // What nests deeper than the engine can write cannot be relayed, and says so.
      await readAll(events, endpoint.includes(','));
      expect(secondsSince(begun)).toBeLessThan(4);
    }
  });
});

// `RX_LLM_FULL=1` gives the sizes that are promised; else a part of them, which takes a second.
const full = process.env['RX_LLM_FULL'] === '1';
const scale = full ? 1 : 1 / 100;
const MiB = 1024 * 1024;
if (full) jest.setTimeout(200_000);

describe('a flood stays within a few seconds and a few megabytes', () => {
  const collect = (): void => {
    (globalThis as { gc?: () => void }).gc?.();
  };

  /** Feeds `times` chunks, and says how the stream fared. */
  async function flood(
    chunk: Uint8Array | string,
    times: number,
    first = '',
    options: Partial<LlmClientOptions> = {},
  ): Promise<{ events: number; error: unknown; seconds: number; mebibytes: number }> {
    collect();
    const start = process.memoryUsage();
    let peak = 0;
    let events = 0;
    const begun = process.cpuUsage();
    const transport = inMemory((body) => {
      if (first !== '') body.next(typeof chunk === 'string' ? first : Buffer.from(first));
      for (let i = 0; i < times && !body.closed; i++) {
        body.next(typeof chunk === 'string' ? chunk : chunk.slice());
        if (i % Math.ceil(times / 10) === 0) {
          const { heapUsed, external } = process.memoryUsage();
          peak = Math.max(peak, heapUsed + external - start.heapUsed - start.external);
        }
      }
      body.complete();
    });
    const error = await new Promise((resolve) => {
      createLlmClient({ baseUrl: 'http://h', transport, ...options })
        .chatCompletions(request)
        .subscribe({ next: () => events++, error: resolve, complete: () => resolve(undefined) });
    });
    return { events, error, seconds: secondsSince(begun), mebibytes: peak / MiB };
  }

  const kinds: [string, (of: string) => Uint8Array | string][] = [
    ['text', (of) => of],
    ['bytes', (of) => new TextEncoder().encode(of)],
    ['buffers', (of) => Buffer.from(of)],
  ];

  describe.each(kinds)('of %s', (_, encode) => {
    test('ten million tiny frames', async () => {
      const per = 1000;
      const frames = 10_000_000 * scale;
      const { events, error, seconds, mebibytes } = await flood(
        encode('data: {"a":1}\n\n'.repeat(per)),
        frames / per,
        text('a'),
      );
      expect([events, (error as LlmStreamError).kind]).toEqual([frames + 1, 'truncated']);
      expect(mebibytes).toBeLessThan(100);
      expect(seconds).toBeLessThan(60 * scale + 2);
    });

    test.each([
      ['comments', ': still here\n\n'],
      ['comments without a blank line', ': still here\n'],
      ['blank lines', '\n'],
      ['blank lines of two letters', '\r\n'],
      ['keepalives in the place of data', 'data: : still here\n\n'],
      ['empty data', 'data:\n\n'],
    ])('%s without end, before and after the first event', async (name, piece) => {
      const block = encode(piece.repeat(Math.ceil(65_536 / piece.length)));
      for (const first of ['', text('a')]) {
        const { error, seconds, mebibytes } = await flood(block, (512 * MiB * scale) / 65_536, first);
        expect([name, (error as LlmStreamError).kind]).toEqual([name, 'truncated']);
        expect(mebibytes).toBeLessThan(100);
        expect(seconds).toBeLessThan(120 * scale + 2);
      }
    });

    test.each([
      ['a line without end', 'x'.repeat(65_536)],
      ['spaces without end', ' '.repeat(65_536)],
      ['fields that nobody knows', `other: ${'x'.repeat(200)}\n`.repeat(300)],
      ['data lines of one event', 'data: 1\n'.repeat(8000)],
      ['names of one event', 'event: e\n'.repeat(8000)],
    ])('%s is stopped at the limit', async (_name, piece) => {
      for (const first of ['', 'data: ', text('a')]) {
        const { error, seconds, mebibytes } = await flood(encode(piece), 4096, first, {
          maxEventBytes: 64 * MiB * scale,
        });
        expect((error as LlmStreamError).kind).toBe('limit');
        expect(mebibytes).toBeLessThan(6 * 64 * scale + 100);
        expect(seconds).toBeLessThan(60 * scale + 2);
      }
    });

    test('a frame of a hundred mebibytes, in small reads, is read where it is allowed', async () => {
      const size = 100 * MiB * scale;
      const piece = encode('x'.repeat(16_384));
      const begun = process.cpuUsage();
      const transport = inMemory((body) => {
        body.next(encode('data: {"choices":[{"index":0,"delta":{"content":"'));
        for (let sent = 0; sent < size; sent += 16_384) body.next(piece.slice());
        body.next(encode(`"},"finish_reason":"stop"}]}\n\n${done}`));
        body.complete();
      });
      const client = createLlmClient({ baseUrl: 'http://h', transport, maxEventBytes: 128 * MiB });
      const { values, error } = await record(client.chatCompletions(request));
      expect(error).toBeUndefined();
      expect(readRecorded(values, undefined).text.length).toBeGreaterThanOrEqual(size);
      expect(secondsSince(begun)).toBeLessThan(30 * scale + 2);
    });
  });

  test('a body that is no stream is not read to its end', async () => {
    for (const first of ['{"error":', '<html>', 'nonsense']) {
      let sent = 0;
      const transport = inMemory(
        (body) => {
          body.next(first);
          for (; sent < 10_000 && !body.closed; sent++) body.next('x'.repeat(1024));
        },
        { headers: { 'content-type': 'text/plain' } },
      );
      const error = await failureOf(createLlmClient({ baseUrl: 'http://h', transport }).chatCompletions(request));
      expect(error.kind).toBe('http');
      expect(sent).toBeLessThan(100);
    }
  });
});

describe('no regular expression takes more than linear time', () => {
  const source = join(__dirname, '..');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !/\.spec\.ts$|^spec\//.test(name),
  );
  const found = files.flatMap((name) => {
    const literals: string[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) literals.push(node.text);
      node.forEachChild(visit);
    };
    visit(ts.createSourceFile(name, readFileSync(join(source, name), 'utf8'), ts.ScriptTarget.ES2022));
    return literals.map((literal) => [name, literal] as const);
  });
  const length = 60_000;

  test.each(found)('%s %s', (_, literal) => {
    const end = literal.lastIndexOf('/');
    const expression = new RegExp(literal.slice(1, end), literal.slice(end + 1).replace('y', ''));
    // What the expression itself speaks of makes it go on longest.
    const words = [...new Set(literal.slice(1, end).match(/[a-z]{2,}|[^\\\w\s]/gi) ?? [])];
    const pumps = [
      ' ',
      '\n',
      'a',
      'A1 ',
      '1',
      '1.',
      '_',
      '-',
      '"',
      '\\',
      ':',
      'ab ',
      'A',
      'é',
      '海',
      ...words,
      `${words.join('')} `,
    ];
    for (const pump of pumps) {
      const input = `${pump.repeat(Math.ceil(length / pump.length))}\0`;
      const begun = process.cpuUsage();
      input.replace(expression, '');
      // Quadratic time would be a second or more.
      expect([pump, secondsSince(begun) < 0.25]).toEqual([pump, true]);
    }
  });

  test('they have been found', () => expect(found.length).toBeGreaterThan(40));
});

describe('whatever comes, a stream ends once its body does, and fails only as it says', () => {
  const transcripts = readdirSync(join(DATA, 'transcripts')).filter((name) => name.endsWith('.sse'));
  const bodies = transcripts.map((name) => {
    const endpoint = /^(chat|responses|messages|images)/.exec(name)?.[0] as WireName;
    const body = readFileSync(join(DATA, 'transcripts', name));
    return { endpoint, body: body.subarray(0, 20_000) };
  });

  /** Synchronous: what has not ended when `subscribe` returns never will. */
  function run(endpoint: WireName, chunks: readonly (Uint8Array | string)[]): { events: object[]; error: unknown } {
    const events: object[] = [];
    let end: { error: unknown } | undefined;
    new TestScheduler(() => undefined).run(() => {
      const client = createLlmClient({ baseUrl: 'http://h', transport: inMemory(chunks), maxEventBytes: 1e6 });
      open(client, endpoint).subscribe({
        next: (event) => {
          expect(end).toBeUndefined();
          events.push(event);
        },
        error: (error: unknown) => (end = { error }),
        complete: () => (end ??= { error: undefined }),
      });
      expect(end).toBeDefined();
    });
    if (end?.error !== undefined && !(end.error instanceof LlmStreamError)) throw end.error as Error;
    return { events, error: end?.error };
  }

  function cut(body: Uint8Array, sizes: readonly number[]): Uint8Array[] {
    const chunks: Uint8Array[] = [];
    for (let at = 0, i = 0; at < body.length; at += sizes[i++ % sizes.length] ?? 1)
      chunks.push(body.subarray(at, at + (sizes[i % sizes.length] ?? 1)));
    return chunks;
  }
  const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 });
  const runs = { numRuns: full ? 20_000 : 300 };

  test('random bytes', () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc
        .array(
          fc.constantFrom(
            'data:',
            'event: error',
            '\n',
            '\n\n',
            '\r',
            ': ',
            '{',
            '}',
            '"type":',
            '[DONE]',
            'null',
            '\uFEFF',
            '海',
            '"',
            'response.completed',
          ),
          { maxLength: 60 },
        )
        .map((parts) => new TextEncoder().encode(parts.join(''))),
    );
    fc.assert(
      fc.property(
        fc.constantFrom<WireName>('chat', 'responses', 'messages', 'images'),
        noise,
        sizes,
        (endpoint, bytes, at) => {
          run(endpoint, cut(bytes, at));
        },
      ),
      runs,
    );
  });

  test('recorded streams with a byte changed, lost, added, or a piece of another in them: what came before stays', () => {
    const mutation = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      remove: fc.constantFrom(0, 1, 1, 2, 30),
      insert: fc.oneof(
        fc.uint8Array({ maxLength: 3 }),
        fc
          .constantFrom('\n', '\n\n', '\r', '"', '}', 'data: [DONE]\n\n', 'null', ',"error":{"message":"m"}')
          .map((words) => new TextEncoder().encode(words)),
      ),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...bodies),
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        sizes,
        ({ endpoint, body }, mutations, at) => {
          let changed: Uint8Array = body;
          let first = body.length;
          for (const { at: where, remove, insert } of mutations) {
            const index = Math.floor(where * changed.length);
            first = Math.min(first, index);
            changed = Buffer.concat([changed.subarray(0, index), insert, changed.subarray(index + remove)]);
          }
          const { events } = run(endpoint, cut(changed, at));
          // Everything that stood whole before the first change, however that was cut.
          const before = run(endpoint, [body.subarray(0, Math.max(0, first - 1))]).events;
          const whole = before.slice(0, -1); // the last one may have been ended by the cut
          expect(events.slice(0, whole.length)).toEqual(whole);
        },
      ),
      runs,
    );
  });

  test('the same bytes in any chunks, and as text, give the same events and the same end', () => {
    fc.assert(
      fc.property(fc.constantFrom(...bodies), sizes, ({ endpoint, body }, at) => {
        const whole = run(endpoint, [body]);
        const parts = run(endpoint, cut(body, at));
        expect(parts.events).toEqual(whole.events);
        expect((parts.error as Error | undefined)?.message).toBe((whole.error as Error | undefined)?.message);
        const plain = run(
          endpoint,
          cut(body, at).map((chunk) => new Uint8Array(chunk)),
        );
        expect(plain.events).toEqual(whole.events);
        expect(run(endpoint, [body.toString()]).events).toEqual(whole.events);
      }),
      runs,
    );
  });
});
