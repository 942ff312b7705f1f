import { catchError, EMPTY, map, mergeMap, type Observable } from 'rxjs';
import { createLlmClient, retryBeforeFirstToken } from 'rx-llm';
import type { TransportRequest } from '../transport/transport.js';
import {
  chat,
  errorWith,
  letters,
  marbles,
  messages,
  responses,
  splitBytes,
  sse,
  wireTransport,
  type WireAnswer,
} from './index.js';

const request: TransportRequest = { method: 'POST', url: 'https://gateway.example/v1', headers: {}, body: '{"a":1}' };
const baseUrl = 'https://gateway.example/v1';
const ask = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

describe('wireTransport', () => {
  it(
    'emits the head at h and the chunks of the body at theirs',
    marbles((helpers) => {
      const { expectObservable, expectSubscriptions, flush } = helpers;
      const chunks = { a: 'one', b: Uint8Array.of(2), c: 'three' };
      const transport = wireTransport(helpers, '--h-a-b 200ms c|', { chunks, headers: { 'x-request-id': 'r1' } });
      const bodies = transport(request).pipe(mergeMap(({ body }) => body));
      const heads = transport(request).pipe(map(({ status, headers }) => ({ status, headers })));

      expectObservable(bodies).toBe('              ----a-b 200ms c|', chunks);
      expectObservable(heads).toBe('--(x|)', {
        x: { status: 200, headers: { 'content-type': 'text/event-stream', 'x-request-id': 'r1' } },
      });
      // Nobody reads the body of the second answer: its connection is closed at its head.
      expectSubscriptions(transport.subscriptions).toBe(['^------ 200ms -!', '^-!']);
      flush();
      expect(transport.requests).toEqual([
        { ...request, json: { a: 1 } },
        { ...request, json: { a: 1 } },
      ]);
    }),
  );

  it(
    'breaks the connection at #: before the head there is no response, after it the body errors',
    marbles((helpers) => {
      const transport = wireTransport(helpers, [{ marbles: '--#' }, { marbles: '--h-#' }]);
      const refused = transport(request);
      const reset = transport(request).pipe(mergeMap(({ body }) => body));

      helpers.expectObservable(refused).toBe('--#  ', {}, errorWith({ code: 'ECONNREFUSED' }));
      helpers.expectObservable(reset).toBe('  ----#', {}, errorWith({ code: 'ECONNRESET' }));
      helpers.expectSubscriptions(transport.subscriptions).toBe(['^-!', '^---!']);
    }),
  );

  it(
    'is left at once, before the head and after it',
    marbles((helpers) => {
      const transport = wireTransport(helpers, '--h-a-a|', { chunks: { a: 'a' } });
      const body = transport(request).pipe(mergeMap((response) => response.body));

      helpers.expectObservable(body, '^!').toBe('-');
      helpers.expectObservable(body, '^----!').toBe('----a');
      helpers.expectSubscriptions(transport.subscriptions).toBe(['^!', '^----!']);
    }),
  );

  it(
    'answers as a function of the request says',
    marbles((helpers) => {
      const transport = wireTransport(helpers, ({ json }, index) => ({
        marbles: 'h(a|)',
        chunks: { a: `${JSON.stringify(json)} ${index}` },
      }));
      const bodies: Observable<unknown> = transport(request).pipe(mergeMap(({ body }) => body));
      helpers.expectObservable(bodies).toBe('-(a|)', { a: '{"a":1} 0' });
    }),
  );

  it('fails the test at one request more than it has answers, and at a function that throws', () => {
    const runs = (answers: WireAnswer[] | (() => WireAnswer)): (() => void) =>
      marbles((helpers) => {
        const llm = createLlmClient({ baseUrl: 'https://a.example', transport: wireTransport(helpers, answers) });
        const answer = llm.chatCompletions({ model: 'm', messages: [] });
        helpers
          .expectObservable(
            answer.pipe(
              retryBeforeFirstToken(),
              catchError(() => EMPTY),
            ),
          )
          .toBe('|');
      });

    expect(runs([])).toThrow(new RangeError('wireTransport() has 0 answers, and request 1 was sent.'));
    expect(runs([{ marbles: '#' }])).toThrow(new RangeError('wireTransport() has 1 answer, and request 2 was sent.'));
    expect(
      runs(() => {
        throw new Error('no such model');
      }),
    ).toThrow('no such model');
  });

  it(
    'tells mistakes in a diagram where it is written',
    marbles((helpers) => {
      expect(() => wireTransport(helpers, '--a-|', { chunks: { a: 'a' } })).toThrow(
        "The answer '--a-|' begins with 'a': its first marble is the head, 'h', or '#'.",
      );
      expect(() => wireTransport(helpers, '--h 10ms x|')).toThrow(
        "The answer '--h 10ms x|' has a marble 'x', and its chunks have none.",
      );
    }),
  );
});

describe('a client over wireTransport', () => {
  it(
    'reads events from bytes that were split anywhere',
    marbles((helpers) => {
      const turn = chat.turn('Grüße 世界', { usage: { prompt_tokens: 3, completion_tokens: 2 } });
      for (let seed = 0; seed < 20; seed++) {
        const pieces = splitBytes(sse.whole(turn), { seed, maxBytes: 90 });
        const chunks = letters(pieces);
        const transport = wireTransport(helpers, `h(${Object.keys(chunks).join('')}|)`, { chunks });
        const llm = createLlmClient({ baseUrl, transport });
        helpers.expectObservable(llm.chatCompletions(ask)).toBe('-(abcde|)', letters(turn));
      }
    }),
  );

  it(
    'shows retries in virtual time: 429, then a reset before the first token, then an answer',
    marbles((helpers) => {
      const chunks = { r: chat.role(), a: chat.text('Hi'), e: chat.finish('stop'), d: sse.done };
      const transport = wireTransport(helpers, [
        { marbles: '--(h|)', status: 429, headers: { 'retry-after-ms': '100' } },
        { marbles: '-h-r-#', chunks },
        { marbles: '-h-r-a---(ed|)', chunks },
      ]);
      const llm = createLlmClient({ baseUrl, transport });
      const answer = llm.chatCompletions(ask).pipe(retryBeforeFirstToken({ random: () => 0 }));

      helpers.expectObservable(answer).toBe('-- 100ms ----- 1s -----(ra)(e|)', chunks);
      helpers.expectSubscriptions(transport.subscriptions).toBe([
        '^-!',
        '-- 100ms ^----!', //
        '-- 100ms ----- 1s ^--------!',
      ]);
    }),
  );

  it(
    'shows timeouts in virtual time',
    marbles((helpers) => {
      const transport = wireTransport(helpers, '-h-a-', { chunks: { a: chat.text('Hi') } });
      const llm = createLlmClient({ baseUrl, transport, timeouts: { idleMs: 5000 } });

      helpers
        .expectObservable(llm.chatCompletions(ask))
        .toBe('---a 4999ms #', { a: chat.text('Hi') }, errorWith({ kind: 'timeout', phase: 'idle', tokenSeen: true }));
      helpers.expectSubscriptions(transport.subscriptions).toBe('^--- 4999ms !');
    }),
  );

  it(
    'reports an answer that was cut',
    marbles((helpers) => {
      const transport = wireTransport(helpers, '-h-a-|', { chunks: { a: messages.text('Hi') } });
      const llm = createLlmClient({ baseUrl, transport });
      const answer = llm.messages({ model: 'm', max_tokens: 9, messages: [] });

      helpers
        .expectObservable(answer.pipe(catchError((error: Error) => [error.name])))
        .toBe('---a-(x|)', { a: messages.text('Hi'), x: 'TruncatedStreamError' });
    }),
  );
});

describe('sse', () => {
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

  it('names frames as their endpoint does', () => {
    expect(text(sse(chat.error('no')))).toBe('data: {"error":{"message":"no"}}\n\n');
    expect(text(sse(messages.ping(), messages.stop()))).toBe(
      'event: ping\ndata: {"type":"ping"}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
    );
  });

  it('ends whole answers as their endpoint does', () => {
    expect(text(sse.whole(chat.turn('Hi')))).toMatch(/\n\ndata: \[DONE\]\n\n$/);
    expect(text(sse.whole(responses.turn('Hi')))).not.toContain('[DONE]');
    expect(text(sse.whole(messages.turn('Hi')))).toMatch(/data: \{"type":"message_stop"\}\n\n$/);
  });

  it('writes comments and other frames', () => {
    expect(text(sse.comment('keepalive'))).toBe(': keepalive\n\n');
    expect(text(sse.frame({ type: 'x', data: '1' }))).toBe('event: x\ndata: 1\n\n');
    expect(text(sse.done)).toBe('data: [DONE]\n\n');
  });
});

describe('splitBytes', () => {
  const join = (pieces: readonly Uint8Array[]): number[] => pieces.flatMap((piece) => [...piece]);
  const sizes = (pieces: readonly Uint8Array[]): number[] => pieces.map(({ length }) => length);

  it('loses and repeats nothing', () => {
    for (const split of [1, 3, 1000, [2, 1], { seed: 7 }] as const) {
      expect(join(splitBytes('Grüße, 世界', split))).toEqual([...new TextEncoder().encode('Grüße, 世界')]);
    }
  });

  it('splits into pieces of one size, of several, or as a seed decides', () => {
    expect(sizes(splitBytes('abcdefgh', 3))).toEqual([3, 3, 2]);
    expect(sizes(splitBytes('abcdefgh', [1, 2]))).toEqual([1, 2, 5]);
    expect(splitBytes('abcdefgh', { seed: 1, maxBytes: 3 })).toEqual(splitBytes('abcdefgh', { seed: 1, maxBytes: 3 }));
    expect(Math.max(...sizes(splitBytes('a'.repeat(200), { seed: 1, maxBytes: 3 })))).toBe(3);
  });

  it('refuses sizes that are none', () => {
    expect(() => splitBytes('abc', 0)).toThrow(RangeError);
    expect(() => splitBytes('abc', 1.5)).toThrow(RangeError);
  });
});
