import { Observable, type MonoTypeOperatorFunction, type SchedulerLike, type Subscriber } from 'rxjs';
import { Clocks, type ClockName } from '../clocks.js';
import { fields, type Fields } from '../endpoints/fields.js';
import type { Endpoint, TerminalTracker } from '../endpoints/endpoint.js';
import { StreamTimeoutError, type TimeoutPhase } from '../errors.js';
import { endpointOf, isKeepalive, type EndpointName } from '../events.js';
import { ENDPOINTS, isToken } from '../is-token.js';
import { checkMs } from '../timeouts.js';
import { UsageTally } from '../usage.js';
import { subscribeTo } from './operate.js';

/** The clocks that need no more than events, in milliseconds; 0, `Infinity` or nothing switches one off. */
export interface StreamTimeoutConfig {
  /** From subscribing to the first token (`isToken`). */
  readonly firstTokenMs?: number | undefined;
  /** From subscribing, or from the last event other than `ping` and `keepalive`, to the next one. */
  readonly stalledMs?: number | undefined;
  /** From subscribing to the end. */
  readonly totalMs?: number | undefined;
  /** Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

/** Longer than the client waits for the end of an answer that is whole. */
const GRACE_MS = 10_000;

const CLOCKS: Readonly<
  Partial<Record<ClockName, readonly [option: Exclude<keyof StreamTimeoutConfig, 'scheduler'>, what: string]>>
> = {
  firstToken: ['firstTokenMs', 'No token came within'],
  stalled: ['stalledMs', 'No event came for'],
  total: ['totalMs', 'The stream was not complete within'],
};

/**
 * Passes on what comes, and fails with a `StreamTimeoutError` when one of three clocks runs out. Its `phase` says which:
 *
 * - `'firstToken'`: no token (see `isToken`) within `firstTokenMs` of subscribing;
 * - `'stalled'`: no event other than `ping` and `keepalive` for `stalledMs`;
 * - `'total'`: no completion within `totalMs` of subscribing.
 *
 * ```text
 * source     --c-----t--|
 * streamTimeout({ firstTokenMs: 5 })
 * result     --c--#             c: role chunk, t: text
 * ```
 *
 * For any source: a value that is no event counts as a token, and as life. The operator sees events and nothing below
 * them; the client's own `timeouts` also know the head of the answer and bytes without events (comments, a slow image).
 * Before `retryBeforeFirstToken()` each try has its own clocks; after it, one set covers all tries and waits.
 *
 * An answer that is whole but whose stream stays open is not failed as stalled before the client has had the time to
 * complete it (5 s), however short `stalledMs` is.
 *
 * Errors: those of the source, and `StreamTimeoutError`, with `retryable` true, and `tokenSeen` and `usage` as far as
 * they were seen here. The source is unsubscribed from, and its request aborted, before the error is passed on.
 * Unsubscribing clears the timer.
 *
 * @param config - which clocks, in milliseconds
 * @throws RangeError at once, when one is negative or not a number; TypeError without a config
 *
 * @example
 * ```ts
 * import { createLlmClient, retryBeforeFirstToken, streamTimeout, textDeltas } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .responses({ model: 'm', input: 'Hi' })
 *   .pipe(streamTimeout({ firstTokenMs: 20_000, stalledMs: 60_000 }), retryBeforeFirstToken(), textDeltas())
 *   .subscribe((text) => console.log(text));
 * ```
 */
export function streamTimeout<T>(config: StreamTimeoutConfig): MonoTypeOperatorFunction<T> {
  if (typeof config !== 'object') throw new TypeError('streamTimeout: give it clocks, as in { stalledMs: 60_000 }');
  const { firstTokenMs, stalledMs = 0, totalMs, scheduler } = config;
  for (const [name, ms] of Object.entries({ firstTokenMs, stalledMs, totalMs })) {
    if (ms !== undefined) checkMs(`streamTimeout: ${name}`, ms);
  }
  return (source) =>
    new Observable<T>((destination) => {
      const watch = new Watch();
      let subscriber: Subscriber<T> | undefined = undefined;
      let patient = false;
      const clocks = new Clocks(scheduler, (phase) => {
        subscriber?.unsubscribe();
        const [option = 'totalMs', what = ''] = CLOCKS[phase] ?? [];
        const message = `${what} ${String(config[option])} ms (\`${option}\`). Raise it if the model may take longer.`;
        destination.error(
          new StreamTimeoutError(message, phase as TimeoutPhase, {
            endpoint: watch.endpoint,
            retryable: true,
            tokenSeen: watch.tokenSeen,
            usage: watch.usage.value,
          }),
        );
      });
      // A source may be done by the time it is subscribed to.
      clocks.arm('total', totalMs);
      clocks.arm('firstToken', firstTokenMs);
      clocks.arm('stalled', stalledMs);
      subscriber = subscribeTo<T, T>(source, destination, {
        next(value) {
          const life = watch.next(value);
          if (watch.tokenSeen) clocks.disarm('firstToken');
          if (life && stalledMs > 0) {
            if (watch.enough !== patient) {
              patient = watch.enough;
              clocks.arm('stalled', patient ? Math.max(stalledMs, GRACE_MS) : stalledMs);
            } else clocks.touch('stalled');
          }
          destination.next(value);
        },
        finalize: () => clocks.stop(),
      });
    });
}

/** What one subscription has seen of its answer; knows no more of other values than that they came. */
class Watch {
  tokenSeen = false;
  /** Nothing essential can follow. */
  enough = false;
  readonly usage = new UsageTally();
  #endpoint: Endpoint<never> | undefined;
  #tracker: TerminalTracker<never> | undefined;

  get endpoint(): EndpointName | undefined {
    return this.#endpoint?.name;
  }

  /** Whether the value is a sign of life. */
  next(value: unknown): boolean {
    const event = fields(value);
    if (isKeepalive(event)) return false;
    this.tokenSeen ||= isToken(value);
    if (!this.#endpoint || event.type === 'message_start') this.#begin(event);
    const usage = this.#endpoint?.usage(event as never);
    if (usage) this.usage.report(usage);
    this.enough = this.#tracker?.next(event as never) !== undefined;
    return true;
  }

  #begin(event: Fields): void {
    const name = 'choices' in event || event.type !== undefined ? endpointOf(event) : undefined;
    this.#endpoint = name && ENDPOINTS[name];
    this.#tracker = this.#endpoint?.terminal({});
  }
}
