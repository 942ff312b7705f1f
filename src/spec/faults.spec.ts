import { finalize, take, tap, type Observable, type Subscription } from 'rxjs';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import {
  createLlmClient,
  fetchTransport,
  retryBeforeFirstToken,
  textDeltas,
  type ChatCompletionChunk,
  type LlmClientOptions,
  type LlmStreamError,
  type RequestOptions,
} from 'rx-llm';
import { undiciTransport } from 'rx-llm/undici';
import { selfSigned } from './support/certificate.js';
import { RawServer, chunked, handles, head, send, until, type RawAnswer } from './support/raw-server.js';
import { record } from './support/reading.js';
import { seeded } from './support/cases.js';

const request = { model: 'm', messages: [{ role: 'user', content: 'Tell me of the sea' }] } as const;
const text = (content: string): string =>
  `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}\n\n`;
const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
const done = 'data: [DONE]\n\n';
const whole = text('a') + text('b') + finish + done;

const respond: RawAnswer = (socket) => send(socket, head(), chunked(whole), chunked(''));

let server: RawServer;
let inherited: number;
/** The timers that RxJS has running. */
const clocks = new Set<unknown>();
const { setInterval: set, clearInterval: clear } = globalThis;

beforeAll(async () => {
  // What other tests in this process have left is theirs to let go of.
  await until(() => handles().length === 0).catch(() => undefined);
  inherited = handles().length;
  jest.spyOn(globalThis, 'setInterval').mockImplementation((...args) => {
    const clock = set(...args);
    clocks.add(clock);
    return clock;
  });
  jest.spyOn(globalThis, 'clearInterval').mockImplementation((clock) => {
    clocks.delete(clock);
    clear(clock);
  });
});

afterAll(() => jest.restoreAllMocks());

// One of its own for each test: a client may find out late that a connection to it is gone.
beforeEach(async () => {
  server = await RawServer.start(respond);
});

/** After every test: the client has left every answer that did not end, and nothing keeps the process alive. */
async function nothingLeft(): Promise<void> {
  try {
    await until(() => [...pending].every(hungUp));
  } finally {
    pending.clear();
    await server.close();
  }
  await until(() => handles().length <= inherited && clocks.size === 0);
}

/** Connections on which an answer does not end. */
const pending = new Set<Socket>();
const hungUp = (socket: Socket): boolean => socket.destroyed || socket.readableEnded;

/** An answer that stops in the middle, and stays open until the client leaves. */
const hang =
  (...parts: (string | Uint8Array)[]): RawAnswer =>
  async (socket) => {
    pending.add(socket);
    await send(socket, ...parts);
  };
const reset =
  (...parts: (string | Uint8Array)[]): RawAnswer =>
  async (socket) => {
    await send(socket, ...parts);
    await delay(5); // the bytes are to arrive first
    socket.resetAndDestroy();
  };
const close =
  (...parts: (string | Uint8Array)[]): RawAnswer =>
  async (socket) => {
    await send(socket, ...parts);
    socket.end();
  };

const transports = { undici: undiciTransport(), fetch: fetchTransport() };

describe.each(Object.entries(transports))('over %s', (name, transport) => {
  const chat = (options: Partial<LlmClientOptions> = {}, own?: RequestOptions): Observable<ChatCompletionChunk> =>
    createLlmClient({ baseUrl: server.url, transport, ...options }).chatCompletions(request, own);
  const read = async (
    source = chat(),
  ): Promise<{ text: string; events: number; error: LlmStreamError | undefined }> => {
    const pieces: string[] = [];
    let events = 0;
    const { error } = await record(
      source.pipe(
        tap(() => events++),
        textDeltas(),
        tap((piece) => pieces.push(piece)),
      ),
    );
    return { text: pieces.join(''), events, error: error as LlmStreamError | undefined };
  };

  afterEach(nothingLeft);

  describe('a connection that fails before the head is a ConnectionError that may be retried', () => {
    test.each<[string, RawAnswer]>([
      ['reset', reset()],
      ['closed without a byte', close()],
      ['reset in the status line', reset('HTTP/1.1 2')],
      ['reset among the headers', reset('HTTP/1.1 200 OK\r\ncontent-type: text/ev')],
      ['closed among the headers', close('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n')],
      ['another protocol', close('SSH-2.0-OpenSSH_9.6\r\n')],
      ['a head that is none', close('HTTP/1.1 twohundred OK\r\n\r\n')],
      ['two lengths', close(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 7\r\n\r\n${whole}`)],
    ])('%s', async (_, answer) => {
      server.answer(answer);
      const { events, error } = await read();
      expect(events).toBe(0);
      expect(error).toMatchObject({ kind: 'connection', retryable: true, tokenSeen: false, status: undefined });
      expect(error?.cause).toHaveProperty('message');
      expect(server.requests).toHaveLength(1);
    });
  });

  describe('a connection that breaks after the head delivers what came, and is truncated', () => {
    const sea = Buffer.from(text('海'));
    const part = chunked(text('a'));
    test.each<[string, RawAnswer, string]>([
      ['right after the head', reset(head()), ''],
      ['closed right after the head', close(head()), ''],
      ['between events', reset(head(), part), 'a'],
      ['closed between events', close(head(), part), 'a'],
      ['in a frame', reset(head(), part, chunked('data: {"choi')), 'a'],
      ['in the blank line', reset(head(), chunked(text('a').slice(0, -1))), ''],
      ['in a character', reset(head(), part, chunked(sea.subarray(0, sea.indexOf('海') + 1))), 'a'],
      [
        'at the end of a body in a character',
        close(head(), part, chunked(sea.subarray(0, sea.indexOf('海') + 2)), chunked('')),
        'a',
      ],
      ['in a chunk header', reset(head(), part, '1'), 'a'],
      ['closed in a chunk header', close(head(), part, '1f'), 'a'],
      ['after a chunk header', reset(head(), part, '1f\r\n'), 'a'],
      ['in the line end of a chunk', reset(head(), part.subarray(0, -1)), 'a'],
      ['with a chunk header that is none', close(head(), part, 'zz\r\nnothing\r\n'), 'a'],
      ['with a length longer than the body', close(head({ 'content-length': 5000 }), text('a')), 'a'],
      [
        'with a length shorter than the body',
        close(head({ 'content-length': text('a').length + 3 }), text('a') + finish),
        'a',
      ],
    ])('%s', async (_, answer, delivered) => {
      server.answer(answer);
      const { text: seen, error } = await read();
      expect(seen).toBe(delivered);
      expect(error).toMatchObject({ kind: 'truncated', status: 200, retryable: true, tokenSeen: delivered !== '' });
      expect(server.requests).toHaveLength(1);
    });
  });

  describe('a connection that breaks when nothing is missing completes', () => {
    test.each<[string, RawAnswer]>([
      ['reset after the terminator', reset(head(), chunked(whole))],
      ['reset after the finish reason', reset(head(), chunked(text('a') + text('b') + finish))],
      ['in a chunk header after the finish reason', reset(head(), chunked(text('a') + text('b') + finish), '1')],
      ['with a length longer than the body', close(head({ 'content-length': 5000 }), whole)],
      ['with neither length nor chunks', close(head({}), whole)],
      [
        'with a length that ends at the finish reason',
        close(head({ 'content-length': whole.length - done.length }), whole),
      ],
    ])('%s', async (_, answer) => {
      server.answer(answer);
      expect(await read()).toMatchObject({ text: 'ab', error: undefined });
    });
  });

  test('a head that comes letter by letter is waited for', async () => {
    server.answer(async (socket) => {
      for (const letter of head()) {
        socket.write(letter);
        await delay(0);
      }
      await send(socket, chunked(whole), chunked(''));
    });
    expect(await read()).toMatchObject({ text: 'ab', error: undefined });
  });

  test('early hints are no answer', async () => {
    server.answer((socket) =>
      send(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n', head(), chunked(whole), chunked('')),
    );
    expect(await read()).toMatchObject({ text: 'ab', error: undefined });
  });

  test.each<[string, RawAnswer]>([
    ['never comes', hang()],
    ['never ends', hang('HTTP/1.1 200 OK\r\ncontent-type: text/eve')],
  ])('a head that %s runs into headersMs, and the connection is closed', async (_, answer) => {
    server.answer(answer);
    const { error } = await read(chat({ timeouts: { headersMs: 60 } }));
    expect(error).toMatchObject({ kind: 'timeout', phase: 'headers', retryable: true, tokenSeen: false });
  });

  test('a peer that is gone without a word runs into idleMs, and the connection is closed', async () => {
    server.answer(hang(head(), chunked(text('a')), '5'));
    const { text: seen, error } = await read(chat({ timeouts: { idleMs: 60 } }));
    expect(seen).toBe('a');
    expect(error).toMatchObject({ kind: 'timeout', phase: 'idle', tokenSeen: true });
  });

  test('a status without a body is an HTTP error', async () => {
    server.answer(close('HTTP/1.1 204 No Content\r\n\r\n'));
    const { error } = await read();
    expect(error).toMatchObject({ kind: 'truncated', status: 204 });
  });

  test('an idle connection that the server has closed is not used again', async () => {
    server.answer(async (socket) => {
      await respond(socket, server.requests[0]!);
      socket.end();
    });
    for (let i = 0; i < 3; i++) {
      expect(await read()).toMatchObject({ text: 'ab', error: undefined });
      await until(() => server.sockets.every(hungUp));
    }
    expect(server.sockets).toHaveLength(3);
  });

  test('a connection that closes as the next request is sent is a failure to retry, never one to hide', async () => {
    server.answer((socket, { index }) => {
      if (index === 1) socket.resetAndDestroy();
      else return respond(socket, server.requests[0]!);
    });
    await read();
    await delay(10);
    const infos: unknown[] = [];
    const result = await read(
      chat().pipe(retryBeforeFirstToken({ delay: 1, onRetry: ({ phase }) => infos.push(phase) })),
    );
    expect(result).toMatchObject({ text: 'ab', error: undefined });
    expect(infos).toEqual(['connection']);
    expect(server.requests).toHaveLength(3);
  });

  test('what a server sends after the end of an answer spoils no other', async () => {
    server.answer(async (socket) => {
      await send(socket, head(), chunked(whole), chunked(''), 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil');
    });
    for (let i = 0; i < 3; i++) {
      expect(await read()).toMatchObject({ text: 'ab', error: undefined });
      await delay(20);
    }
  });

  test('the cut of a compressed body is truncated, after what came whole', async () => {
    const words = Array.from({ length: 4000 }, (_, i) => `${Math.sin(i)} `);
    const body = gzipSync(words.map(text).join(''));
    const parts = [
      head({ 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' }),
      chunked(body.subarray(0, -20)),
    ];
    for (const answer of [reset(...parts), close(...parts)]) {
      server.answer(answer);
      const { text: seen, error } = await read();
      expect(error).toMatchObject({ kind: 'truncated', tokenSeen: true });
      expect(words.join('').startsWith(seen)).toBe(true);
      // What fetch has not decompressed by then is lost with it.
      if (name === 'undici') expect(seen.length).toBeGreaterThan(70_000);
    }
  });

  describe('TLS', () => {
    test('a certificate that nobody vouches for is a ConnectionError that names it', async () => {
      const secure = await RawServer.start(respond, selfSigned);
      const { error } = await read(chat({ baseUrl: secure.url }));
      expect(error).toMatchObject({ kind: 'connection', tokenSeen: false });
      expect(error?.message).toMatch(/CERT/);
      expect(secure.requests).toHaveLength(0);
      await secure.close();
    });

    test('a server that speaks none, or nothing else, is a ConnectionError', async () => {
      server.answer(close('HTTP/1.1 400 Bad Request\r\n\r\n'));
      const plain = server.url.replace('http:', 'https:');
      // A hello of TLS is no request, so that the server above never answers.
      const { error } = await read(chat({ baseUrl: plain, timeouts: { headersMs: 300 } }));
      expect(['connection', 'timeout']).toContain(error?.kind);
      const secure = await RawServer.start(respond, selfSigned);
      const wrong = await read(chat({ baseUrl: secure.url.replace('https:', 'http:') }));
      expect(wrong.error).toMatchObject({ kind: 'connection' });
      await secure.close();
    });
  });

  describe('unsubscribing', () => {
    const events = 6;
    const long = Array.from({ length: events }, (_, i) => text(String(i))).join('');

    test.each(Array.from({ length: events }, (_, i) => i))('inside event %d ends there', async (index) => {
      for (const parts of [[chunked(long)], [...long.split(/(?<=\n\n)/)].map(chunked)]) {
        server.answer(hang(head(), ...parts));
        let seen = 0;
        let ended = false;
        await new Promise<void>((resolve) => {
          const subscription: Subscription = chat()
            .pipe(finalize(resolve))
            .subscribe({
              next() {
                if (seen++ === index) subscription.unsubscribe();
              },
              error: () => (ended = true),
              complete: () => (ended = true),
            });
        });
        await until(() => [...pending].every(hungUp));
        expect([seen, ended]).toEqual([index + 1, false]);
      }
    });

    test('inside onResponse gives no event, and closes the connection', async () => {
      server.answer(hang(head(), chunked(text('a'))));
      const seen: unknown[] = [];
      await new Promise<void>((resolve) => {
        const subscription = chat({}, { onResponse: () => (subscription.unsubscribe(), resolve()) }).subscribe({
          next: (event) => seen.push(event),
          error: (error) => seen.push(error),
        });
      });
      await until(() => [...pending].every(hungUp));
      expect(seen).toEqual([]);
    });

    test('an onResponse that throws fails the stream with what it threw, and closes the connection', async () => {
      server.answer(hang(head(), chunked(text('a'))));
      const mine = new Error('mine');
      const { values, error } = await record(
        chat(
          {},
          {
            onResponse() {
              throw mine;
            },
          },
        ),
      );
      expect([values, error]).toEqual([[], mine]);
      await until(() => [...pending].every(hungUp));
    });

    test('at once sends nothing, or takes back what was sent', async () => {
      server.answer(hang());
      for (let i = 0; i < 20; i++) chat().subscribe().unsubscribe();
      await delay(60);
      expect(server.requests.length).toBeLessThanOrEqual(name === 'undici' ? 0 : 20);
      await until(() => [...pending].every(hungUp));
    });

    test('at any moment leaves nothing behind', async () => {
      server.answer(async (socket) => {
        pending.add(socket);
        for (const part of [head(), ...[...long.split(/(?<=\n\n)/)].map(chunked)]) await send(socket, part);
      });
      const errors: unknown[] = [];
      for (let ms = 0; ms < 30; ms += 2) {
        const subscription = chat().subscribe({ error: (error) => errors.push(error) });
        await delay(ms);
        subscription.unsubscribe();
      }
      await until(() => [...pending].every(hungUp));
      expect(errors).toEqual([]);
    });

    test('inside the handler of the end changes nothing', async () => {
      server.answer(respond);
      for (const answer of [respond, reset(head(), chunked(text('a')))]) {
        server.answer(answer);
        const ends: string[] = [];
        await new Promise<void>((resolve) => {
          const end = (how: string) => () => {
            ends.push(how);
            subscription.unsubscribe();
            resolve();
          };
          const subscription = chat().subscribe({ error: end('error'), complete: end('complete') });
        });
        expect(ends).toHaveLength(1);
      }
    });
  });

  test('subscribing again inside an event sends another request, beside the first', async () => {
    server.answer(respond);
    const source = chat();
    const inner: Promise<{ values: unknown[] }>[] = [];
    const { values } = await record(
      source.pipe(
        tap(() => {
          if (inner.length < 2) inner.push(record(source));
        }),
      ),
    );
    expect(values).toHaveLength(3);
    for (const result of await Promise.all(inner)) expect(result.values).toHaveLength(3);
    expect(server.requests).toHaveLength(3);
  });

  test('an abort inside an event ends there with its reason', async () => {
    server.answer(hang(head(), chunked(whole)));
    const controller = new AbortController();
    const seen: unknown[] = [];
    const source = chat({}, { signal: controller.signal }).pipe(
      tap((event) => {
        seen.push(event);
        controller.abort();
      }),
    );
    const { error } = await record(source);
    expect(seen).toHaveLength(1);
    expect((error as Error).name).toBe('AbortError');
    await until(() => [...pending].every(hungUp));
  });

  test('a thousand streams at once, half of them left at random', async () => {
    const random = seeded(7);
    const pieces = [text('a'), text('b'), text('c'), finish, done];
    server.answer(async (socket) => {
      socket.write(head());
      for (const piece of pieces) {
        await delay(random() * 30);
        if (socket.destroyed) return;
        socket.write(chunked(piece));
      }
      socket.write(chunked(''));
    });
    const results: string[] = [];
    const abandoned: Subscription[] = [];
    const all = Array.from({ length: 1000 }, (_, i) => {
      if (i % 2 === 0) return read().then(({ text: seen, error }) => results.push(error ? error.message : seen));
      const unexpected = (): unknown => results.push('unexpected');
      if (i % 4 === 1)
        return record(chat().pipe(take(1 + Math.floor(random() * 3)))).then(({ error }) => error && unexpected());
      abandoned.push(chat().subscribe({ error: unexpected }));
      return delay(random() * 80).then(() => abandoned.pop()?.unsubscribe());
    });
    await Promise.all(all);
    expect(results).toHaveLength(500);
    expect(new Set(results)).toEqual(new Set(['abc']));
  }, 20_000);
});
