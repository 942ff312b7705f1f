import { Observable, type Subscription } from 'rxjs';
import { fields } from '../endpoints/fields.js';
import { isLlmStreamError } from '../errors.js';
import type { EndpointName } from '../events.js';
import { subscribeTo } from '../operators/operate.js';
import { encodeServerSentEvent } from './encode.js';
import { errorBody, errorFrame, statusFor } from './error-frame.js';
import type { ServerSentEvent } from './server-sent-event.js';

/** What is used of a response: of `node:http`, `node:http2`, Express, or Fastify's `reply.raw` after `reply.hijack()`. */
export interface ServerResponseLike {
  readonly headersSent: boolean;
  readonly destroyed?: boolean;
  readonly writableEnded: boolean;
  readonly writableLength: number;
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(chunk: string): boolean;
  end(): unknown;
  destroy(): unknown;
  /** Of HTTP/2 alone. */
  readonly stream?: { close(code: number): unknown };
  on(event: string, listener: () => void): unknown;
  removeListener(event: string, listener: () => void): unknown;
}

export interface PipeServerSentEventsOptions {
  /**
   * How much may wait for a reader that does not keep up. One that is further behind when the next event comes is cut
   * off, so that it can fill no memory. Default: 1 MiB.
   */
  readonly maxBufferedBytes?: number | undefined;
  /** Added to the head of the stream, or put in the place of what it has: lower-case names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Called with an error that comes before anything was written: the response is untouched, and yours to answer.
   * Without it the answer is JSON, `{"error":{"message","type","code"}}`, with the failure's own HTTP status; 502 where
   * it has none or where it is about this server's own key or account (401, 402, 403, 407, a quota that is used up),
   * 504 for a timeout, 500 for an error that is none of this library's. `x-should-retry` says what `retryable` says.
   * The message is the provider's own for a failure in the stream or about the request (4xx), else a sentence that
   * tells a reader what happened; what the error says to whoever runs this server is told to nobody.
   */
  onError?(error: unknown): void;
}

const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  // Compressing middleware would keep frames back until it has enough of them.
  'cache-control': 'no-cache, no-transform',
  // So would nginx.
  'x-accel-buffering': 'no',
};

/**
 * Writes server-sent events to the response of a Node server, as they come.
 *
 * ```text
 * source    --a--b--|       --#           --a--#
 * response  --HA-B--end     --(502)       --HA-(E end)
 * ```
 *
 * Status 200 and the headers are written with the first event, or at completion if there was none. An error before that
 * leaves a real HTTP status possible: see `onError`. Errors after that belong into the stream in the endpoint's own
 * shape, which `toServerSentEvents()` sees to; one that gets here nevertheless is written as an event named `error`, and
 * the response is ended.
 *
 * The source is unsubscribed from, and so the request to the gateway aborted, as soon as the reader leaves or falls
 * behind by more than `maxBufferedBytes`; then the connection is closed without an end, which readers take for a stream
 * that was cut. Unsubscribing from the returned subscription does the same; before anything was written it leaves the
 * response alone. Nothing is subscribed to when the reader has left already.
 *
 * @param source - what `toServerSentEvents()` emits, or other events that have data or a comment; one without either is
 *   raised as a `TypeError`, after the reader was told that the stream has failed
 * @param response - of `node:http`, `node:http2`, Express, or Fastify's `reply.raw`
 * @param options - the limit, more headers, and who answers an error that comes first
 * @returns the subscription; it is closed once the response is ended or the reader is gone
 * @throws TypeError - at the call, if the source is no Observable (a Promise of one, say) or the response none
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createLlmClient, pipeServerSentEvents, toServerSentEvents } from 'rx-llm';
 *
 * const llm = createLlmClient({ baseUrl: 'https://gateway.example/v1' });
 *
 * createServer((request, response) => {
 *   const events = llm.responses({ model: 'm', input: 'Hi' });
 *   pipeServerSentEvents(events.pipe(toServerSentEvents()), response, { maxBufferedBytes: 256 * 1024 });
 * }).listen(8080);
 * ```
 */
export function pipeServerSentEvents(
  source: Observable<ServerSentEvent>,
  response: ServerResponseLike,
  options: PipeServerSentEventsOptions = {},
): Subscription {
  requireMethod(source, 'subscribe', 'its source to be an Observable; a Promise of one has to be awaited first');
  requireMethod(response, 'writeHead', 'the response of a Node server');
  const { maxBufferedBytes = 1024 * 1024, headers, onError } = options;

  return new Observable<never>((destination) => {
    if (isGone(response)) {
      destination.complete();
      return;
    }
    /** The response is the caller's to end. */
    let handedOver = false;

    const leave = (): void => destination.complete();
    // A write may still be under way when the connection breaks, and an `error` that nobody hears ends the process.
    const ignore = (): void => {};
    const forget = (): void => {
      response.removeListener('close', leave);
      response.removeListener('close', forget);
      response.removeListener('error', ignore);
    };
    response.on('close', leave);
    response.on('close', forget);
    response.on('error', ignore);

    destination.add(() => {
      if (!response.headersSent) forget();
      else if (!handedOver && !isGone(response)) cut(response);
    });

    const start = (): void => {
      // Whoever has sent it already has chosen the status, too.
      if (!response.headersSent) response.writeHead(200, { ...HEADERS, ...headers });
    };

    const fail = (error: unknown): void => {
      if (response.headersSent) {
        if (isGone(response)) return;
        response.write(encodeServerSentEvent(errorFrame(undefined, error, 0)));
        response.end();
        return;
      }
      handedOver = true;
      forget();
      try {
        if (onError) onError(error);
        else answer(response, error);
      } catch (thrown) {
        // Nobody else would end it.
        cut(response);
        throw thrown;
      }
    };

    subscribeTo(source, destination, {
      next(event) {
        // What was there before counts, not this event: an image may be larger than the limit and its reader prompt.
        if (isGone(response) || response.writableLength > maxBufferedBytes) {
          leave();
          return;
        }
        if (typeof event.data !== 'string' && typeof event.comment !== 'string') {
          const error = new TypeError(
            'pipeServerSentEvents: an event has neither data nor comment; did you forget toServerSentEvents()?',
          );
          fail(error);
          // A mistake in the program, whatever the reader was told.
          throw error;
        }
        start();
        response.write(encodeServerSentEvent(event));
      },
      error(error) {
        fail(error);
        destination.complete();
      },
      complete() {
        start();
        response.end();
        destination.complete();
      },
    });
  }).subscribe();
}

/** Told at the call, where it is to be mended, and not from inside a subscription. */
function requireMethod(value: unknown, method: string, what: string): void {
  if (typeof fields(value)[method] !== 'function') throw new TypeError(`pipeServerSentEvents needs ${what}`);
}

function isGone(response: ServerResponseLike): boolean {
  return response.writableEnded || response.destroyed === true;
}

/** HTTP/2's CANCEL; what `destroy()` sends there looks to the reader like a good end. */
const CANCEL = 8;

function cut(response: ServerResponseLike): void {
  if (response.stream) response.stream.close(CANCEL);
  else response.destroy();
}

function answer(response: ServerResponseLike, error: unknown): void {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  let endpoint: EndpointName | undefined;
  if (isLlmStreamError(error)) {
    const { retryable, retryAfterMs } = error;
    ({ endpoint } = error);
    if (typeof retryable === 'boolean') headers['x-should-retry'] = String(retryable);
    if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000));
  }
  response.writeHead(statusFor(error), headers);
  const body = { error: errorBody(error, endpoint) };
  response.write(JSON.stringify(endpoint === 'messages' ? { type: 'error', ...body } : body));
  response.end();
}
