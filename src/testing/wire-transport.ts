import { Observable, throwError, type Subscriber } from 'rxjs';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.js';
import { sse, type WireEvent } from './sse.js';
import { logSubscription, type SubscriptionLog } from './subscription-log.js';

/** What comes at one marble: bytes, text that a platform has decoded already, or an event, in its endpoint's framing. */
export type WireChunk = Uint8Array | string | WireEvent;

/** An answer to one request, as a marble diagram of what comes over the wire. */
export interface WireAnswer {
  /**
   * The first marble must be `h`, the head of the answer. Every other one is a chunk of the body; `|` is its clean end
   * and `#` a broken connection: after the head a reset, in its place no response at all. Without either, the connection
   * stays open and stalls.
   */
  readonly marbles: string;
  /** What the marbles of the body stand for. */
  readonly chunks?: Readonly<Record<string, WireChunk>>;
  /** Default 200. */
  readonly status?: number;
  /** Lower-case names. `content-type` is `text/event-stream` by default, `application/json` if the status is no 2xx. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What `#` raises. Default: an error such as Node's, with the code `ECONNREFUSED` or `ECONNRESET`. */
  readonly error?: unknown;
}

/** A request that was sent. */
export interface WireRequest extends TransportRequest {
  /** The parsed body. */
  readonly json: unknown;
}

export interface WireTransport extends Transport {
  /** What was sent, in order. */
  readonly requests: readonly WireRequest[];
  /** From sending each request to the end of its connection, for `expectSubscriptions()`. */
  readonly subscriptions: SubscriptionLog[];
}

/** The helpers of `marbles()` or `TestScheduler.run()`. */
export interface ColdHelpers {
  cold(marbles: string, values: Record<string, string>, error?: unknown): Observable<string>;
}

/**
 * A transport whose answers are marble diagrams, so that a whole client runs in virtual time: from bytes to operators,
 * retries and timeouts included.
 *
 * ```text
 * answer         --h-a-b 200ms c|     head at 2ms, chunks at 4ms, 6ms and 207ms
 * subscriptions  ^------ 200ms -!     the request is sent at ^, the connection closed at !
 * ```
 *
 * One answer is given to every request; of several, the first to the first request, the second to the second. A function
 * gives the answer to each request as it likes. One request more than there are answers fails the test, whatever retries
 * or handles errors in between, and so does a function that throws.
 *
 * @param helpers - What `marbles()` or `TestScheduler.run()` hands to the test.
 *
 * @example
 * ```ts
 * import { createLlmClient, retryBeforeFirstToken, textDeltas } from 'rx-llm';
 * import { chat, marbles, sse, wireTransport } from 'rx-llm/testing';
 *
 * it(
 *   'asks again after 429',
 *   marbles((helpers) => {
 *     const transport = wireTransport(helpers, [
 *       { marbles: '--(h|)', status: 429, headers: { 'retry-after-ms': '100' } },
 *       { marbles: '--h-a-(d|)', chunks: { a: chat.text('Hi'), d: sse.done } },
 *     ]);
 *     const llm = createLlmClient({ baseUrl: 'https://gateway.example/v1', transport });
 *     const text = llm
 *       .chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
 *       .pipe(retryBeforeFirstToken(), textDeltas());
 *
 *     helpers.expectObservable(text).toBe('-- 100ms ----x-|', { x: 'Hi' });
 *     helpers.expectSubscriptions(transport.subscriptions).toBe(['^-!', '-- 100ms ^-----!']);
 *   }),
 * );
 * ```
 */
export function wireTransport(
  helpers: ColdHelpers,
  marbles: string,
  answer?: Omit<WireAnswer, 'marbles'>,
): WireTransport;
export function wireTransport(
  helpers: ColdHelpers,
  answers: WireAnswer | readonly WireAnswer[] | ((request: WireRequest, index: number) => WireAnswer),
): WireTransport;
export function wireTransport(
  helpers: ColdHelpers,
  answers: string | WireAnswer | readonly WireAnswer[] | ((request: WireRequest, index: number) => WireAnswer),
  rest: Omit<WireAnswer, 'marbles'> = {},
): WireTransport {
  const requests: WireRequest[] = [];
  const subscriptions: SubscriptionLog[] = [];
  const answerTo = choose(typeof answers === 'string' ? { ...rest, marbles: answers } : answers);

  const transport: Transport = (request) =>
    new Observable((subscriber) => {
      const sent = { ...request, json: parse(request.body) };
      requests.push(sent);
      try {
        play(helpers, answerTo(sent, requests.length - 1), subscriber, subscriptions);
      } catch (fault) {
        // The client would take it for a connection that failed, and a retry would go on with it: the test itself must
        // fail. In virtual time an error that nobody handles is thrown at whoever runs the scheduler.
        throwError(() => fault).subscribe();
        throw fault;
      }
    });
  return Object.assign(transport, { requests, subscriptions });
}

type Answers = WireAnswer | readonly WireAnswer[] | ((request: WireRequest, index: number) => WireAnswer);

function choose(answers: Answers): (request: WireRequest, index: number) => WireAnswer {
  if (typeof answers === 'function') {
    return (request, index) => {
      const answer = answers(request, index);
      check(answer);
      return answer;
    };
  }
  const list: readonly WireAnswer[] = isList(answers) ? answers : [answers];
  list.forEach(check);
  return (_request, index) => {
    const answer = isList(answers) ? answers[index] : answers;
    if (!answer)
      throw new RangeError(`wireTransport() has ${many(list.length, 'answer')}, and request ${index + 1} was sent.`);
    return answer;
  };
}

const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function isList(answers: WireAnswer | readonly WireAnswer[]): answers is readonly WireAnswer[] {
  return Array.isArray(answers);
}

/** Mistakes in a diagram are told where it is written, not at some moment of virtual time. */
function check({ marbles, chunks = {} }: WireAnswer): void {
  const [first = '|', ...others] = marksOf(marbles);
  if (first !== 'h' && first !== '#') {
    throw new TypeError(`The answer '${marbles}' begins with '${first}': its first marble is the head, 'h', or '#'.`);
  }
  for (const mark of others) {
    if (mark !== '|' && mark !== '#' && !Object.hasOwn(chunks, mark)) {
      throw new TypeError(`The answer '${marbles}' has a marble '${mark}', and its chunks have none.`);
    }
  }
}

function marksOf(marbles: string): string[] {
  const withoutTimes = marbles.replace(/(^|\s)\d+(\.\d+)?(ms|s|m)(?=\s)/g, '$1');
  return [...withoutTimes.replace(/[\s()-]/g, '')];
}

function play(
  helpers: ColdHelpers,
  answer: WireAnswer,
  subscriber: Subscriber<TransportResponse>,
  log: SubscriptionLog[],
): void {
  const { marbles, chunks = {}, status = 200, headers } = answer;
  const marks = Object.fromEntries([...marbles].map((mark) => [mark, mark]));
  const error = answer.error ?? connectionError(marksOf(marbles)[0] === '#' ? 'ECONNREFUSED' : 'ECONNRESET');
  let responded = false;
  let body: Subscriber<Uint8Array | string> | undefined;

  const connection = helpers.cold(marbles, marks, error).subscribe({
    next(mark) {
      if (responded) {
        const chunk = chunks[mark];
        if (chunk !== undefined) body?.next(encode(chunk));
        return;
      }
      responded = true;
      const type = status >= 200 && status < 300 ? 'text/event-stream' : 'application/json';
      subscriber.next({ status, headers: { 'content-type': type, ...headers }, body: bodyOf() });
      subscriber.complete();
      if (!body) connection.unsubscribe();
    },
    error(reason: unknown) {
      (body ?? subscriber).error(reason);
    },
    complete() {
      body?.complete();
    },
  });
  logSubscription(log, connection);
  subscriber.add(() => {
    if (!responded) connection.unsubscribe();
  });

  function bodyOf(): Observable<Uint8Array | string> {
    return new Observable((reader) => {
      body = reader;
      reader.add(connection);
    });
  }
}

function encode(chunk: WireChunk): Uint8Array | string {
  return typeof chunk === 'string' || chunk instanceof Uint8Array ? chunk : sse(chunk);
}

function connectionError(code: string): Error {
  const message = code === 'ECONNRESET' ? 'socket hang up' : 'connect ECONNREFUSED';
  return Object.assign(new Error(message), { code });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
