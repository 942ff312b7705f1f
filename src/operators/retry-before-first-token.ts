import {
  Observable,
  asyncScheduler,
  from,
  take,
  timer,
  type MonoTypeOperatorFunction,
  type ObservableInput,
  type SchedulerLike,
} from 'rxjs';
import { openScope } from '../attempt.js';
import { MAX_TIMER_MS } from '../clocks.js';
import { fields } from '../endpoints/fields.js';
import { Preamble, subscribeToTry } from './before-first-token.js';
import { subscribeTo } from './operate.js';

/** How far a try came: no response, a response that reports the failure by its status, or a stream without a token. */
export type RetryPhase = 'connection' | 'http' | 'stream';

/** What `onRetry` is told, before the wait. */
export interface RetryInfo {
  /** What the try failed with. */
  readonly error: unknown;
  /** Which retry this is going to be: 1 for the first. */
  readonly attempt: number;
  /** The wait before it; `undefined` where a notifier decides. */
  readonly delayMs: number | undefined;
  readonly phase: RetryPhase;
}

export interface RetryBeforeFirstTokenConfig {
  /** How often to try again. Default: 2; 0 never. */
  readonly count?: number | undefined;
  /**
   * Milliseconds before the first retry (default: 500). They double with each further one, up to 8 s (or the number
   * itself, if it is more), and are cut by up to a quarter at random. What the server asks for (`error.retryAfterMs`)
   * takes the place of all that.
   *
   * A function decides alone, the server's wish included: it gives milliseconds, or a notifier as in `retry({ delay })`
   * of RxJS, whose first value starts the next try. A notifier that completes without a value gives up.
   */
  readonly delay?: number | ((error: unknown, attempt: number) => number | ObservableInput<unknown>) | undefined;
  /** The longest wait that a server may ask for: if it asks for more, the error is raised at once. Default: 60,000. */
  readonly maxDelayMs?: number | undefined;
  /**
   * Decides in place of `error.retryable`. It is asked at most `count` times, never after a token, and never about an
   * `AbortError` or another end by the request's `signal`. `attempt` is 1 for the first retry.
   */
  readonly shouldRetry?: ((error: unknown, attempt: number) => boolean) | undefined;
  /** `'hold'` (default): events before the token wait for it. `'passthrough'`: each try shows its own at once. */
  readonly preamble?: 'hold' | 'passthrough' | undefined;
  /** Called once a retry is decided on, before its wait. */
  readonly onRetry?: ((info: RetryInfo) => void) | undefined;
  /** The source of the jitter, from 0 to 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Runs the waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
  /** The header in which a client of this library sends the idempotency key. Default: `idempotency-key`. */
  readonly idempotencyHeader?: string | undefined;
}

/** Where doubling stops. */
const MAX_BACKOFF_MS = 8000;

/**
 * Subscribes to the source again when it fails before its first token, and never after: what was shown or paid for is
 * not asked for a second time.
 *
 * Events before the token (`response.created`, a role chunk: see `isToken`) are held back until it comes, so that one
 * preamble is seen however many tries there were. When the source completes without a token, or no try is left, they
 * are delivered first, and then the notification.
 *
 * ```text
 * tries      c--#
 *                  c--t-t-|
 * retryBeforeFirstToken()
 * result     ---------(ct)-t-|      c: role chunk, t: text
 * ```
 *
 * By default there are two retries, of what may pass: connections that fail, HTTP 408, 409, 425, 429, 5xx, truncated
 * streams, timeouts, overload reported in the stream; not spend limits, nor what the server marks with
 * `x-should-retry: false`: in short, errors whose `retryable` is true, of any copy of this package. Other errors are
 * passed on unless `shouldRetry` says otherwise. An error whose `tokenSeen` is true is never retried, a token that
 * another operator swallowed counts, and so does a value that is no event: the operator is safe after any other one.
 *
 * All tries of one subscription carry one idempotency key per request, in the header `idempotency-key`; a new
 * subscription (`repeat`, a second subscriber) has a new one. The key reaches a client that is subscribed to
 * synchronously; behind an asynchronous hop (`subscribeOn`, a timer) each try has its own. Keys and headers given as functions
 * are asked for again with each try.
 *
 * Errors: the last try's own, or what a function of the config throws. Unsubscribing ends the try or the wait, and so
 * does aborting the request's `signal`, whose reason is the error then.
 *
 * @param config - defaults as described with its fields
 * @throws RangeError at once, when `count`, `delay` or `maxDelayMs` is negative or not a number; TypeError for a
 * bare number
 *
 * @example
 * ```ts
 * import { createLlmClient, retryBeforeFirstToken, textDeltas } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
 *   .pipe(
 *     retryBeforeFirstToken({
 *       count: 3,
 *       onRetry: ({ attempt, delayMs, phase }) => console.warn(`retry ${attempt} in ${delayMs} ms (${phase})`),
 *     }),
 *     textDeltas(),
 *   )
 *   .subscribe((text) => console.log(text));
 * ```
 */
export function retryBeforeFirstToken<T>(config: RetryBeforeFirstTokenConfig = {}): MonoTypeOperatorFunction<T> {
  if (typeof config !== 'object') throw new TypeError('retryBeforeFirstToken: give it a config, as in { count: 3 }');
  const { count = 2, delay = 500, maxDelayMs = 60_000, random = Math.random } = config;
  const { shouldRetry = isRetryable, onRetry, scheduler = asyncScheduler, idempotencyHeader } = config;
  refuseNegative({ count, maxDelayMs, ...(typeof delay === 'number' && { delay }) });

  /** The wait before a retry; `undefined`: it is too long. */
  const waitFor = (error: unknown, attempt: number): number | ObservableInput<unknown> | undefined => {
    if (typeof delay === 'function') return delay(error, attempt);
    const { retryAfterMs: asked } = fields(error);
    if (typeof asked === 'number' && asked >= 0) return asked <= maxDelayMs ? asked : undefined;
    const backoff = Math.min(delay * 2 ** (attempt - 1), Math.max(delay, MAX_BACKOFF_MS));
    return backoff * (1 - random() / 4);
  };

  return (source) =>
    new Observable<T>((destination) => {
      const scope = openScope(idempotencyHeader);
      const preamble = new Preamble<T>(destination, scope, config.preamble !== 'passthrough');
      let attempt = 0;

      const connect = (): void => subscribeToTry(source, destination, preamble, scope, onError);

      const giveUp = (error: unknown): void => {
        preamble.release();
        destination.error(error);
      };

      const onError = (error: unknown): void => {
        try {
          const wait =
            attempt++ < count && preamble.mayRestart(error) && shouldRetry(error, attempt)
              ? waitFor(error, attempt)
              : undefined;
          if (wait === undefined) {
            giveUp(error);
            return;
          }
          const delayMs = typeof wait === 'number' ? Math.min(Math.max(wait, 0) || 0, MAX_TIMER_MS) : undefined;
          const notifier = delayMs === undefined ? from(wait as ObservableInput<unknown>) : timer(delayMs, scheduler);
          onRetry?.({ error, attempt, delayMs, phase: phaseOf(error, preamble.started) });
          waitOn(notifier, error);
        } catch (thrown) {
          giveUp(thrown);
        }
      };

      const waitOn = (notifier: Observable<unknown>, error: unknown): void => {
        let notified = false;
        const { signal } = scope;
        const onAbort = (): void => {
          if (scope.aborted) giveUp(signal?.reason);
        };
        onAbort();
        // A function of the config may have left, too.
        if (destination.closed) return;
        signal?.addEventListener('abort', onAbort);
        subscribeTo(notifier.pipe(take(1)), destination, {
          next() {
            notified = true;
          },
          error: giveUp,
          complete() {
            if (notified) connect();
            else giveUp(error);
          },
          finalize: () => signal?.removeEventListener('abort', onAbort),
        });
      };

      connect();
    });
}

function isRetryable(error: unknown): boolean {
  const { kind, retryable } = fields(error);
  return typeof kind === 'string' && retryable === true;
}

function phaseOf(error: unknown, started: boolean): RetryPhase {
  const { kind, phase } = fields(error);
  if (kind === 'http') return 'http';
  if (kind === 'connection' || (kind === 'timeout' && phase === 'headers')) return 'connection';
  return typeof kind === 'string' || started ? 'stream' : 'connection';
}

function refuseNegative(options: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (!(value >= 0)) throw new RangeError(`retryBeforeFirstToken: ${name} must be 0 or more, not ${String(value)}`);
  }
}
