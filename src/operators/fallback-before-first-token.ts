import { Observable, from, type ObservableInput, type OperatorFunction } from 'rxjs';
import { openScope } from '../attempt.js';
import { Preamble, subscribeToTry } from './before-first-token.js';

/** Another source, or a function that makes one from the error before it, and is not called before it is needed. */
export type Fallback<T> = ObservableInput<T> | ((error: unknown) => ObservableInput<T>);

/** What a candidate emits. */
export type FallbackValue<F> = F extends (error: unknown) => ObservableInput<infer T>
  ? T
  : F extends ObservableInput<infer T>
    ? T
    : never;

/**
 * Goes on with another model or gateway when the source fails before its first token, and with the next one when that
 * fails too. After a token nothing takes over: what was shown would be shown again in other words.
 *
 * A candidate is subscribed to when the one before it is gone from the wire. Events before the token are held back as
 * by `retryBeforeFirstToken()`: one preamble is seen, of the candidate that answers. If the last one fails, or one
 * completes without a token, its held events are delivered first, and then the notification.
 *
 * ```text
 * source     c--#
 * other         c--t-t-|
 * fallbackBeforeFirstToken(other)
 * result     ------(ct)-t-|      c: role chunk, t: text
 * ```
 *
 * Every error falls back, 401 and 404 too (another gateway has other keys and models), except an `AbortError` or another
 * end by the request's `signal` (one that timed out falls back), and an error whose `tokenSeen` is true. A function may
 * choose by the error it is given, or throw it to end here.
 *
 * Errors: that of the last candidate that was tried, or what a function throws. Where several failed, its `errors`
 * lists those of all of them in order, itself at the end (not enumerable, left out of JSON). Unsubscribing ends the
 * candidate that is being read.
 *
 * A `retryBeforeFirstToken()` after it tries all candidates again; one before it, or within a candidate, tries that one
 * several times before the next takes over. Each candidate has its own idempotency key.
 *
 * @param next - tried in this order
 * @throws TypeError at once, when it is given something else, such as a client
 *
 * @example
 * ```ts
 * import { createLlmClient, fallbackBeforeFirstToken, retryBeforeFirstToken, textDeltas } from 'rx-llm';
 *
 * const llm = createLlmClient({ baseUrl: 'https://gateway.example/v1' });
 * const ask = (model: string) => llm.chatCompletions({ model, messages: [{ role: 'user', content: 'Hi' }] });
 *
 * ask('large')
 *   .pipe(retryBeforeFirstToken(), fallbackBeforeFirstToken(ask('medium'), ask('small')), textDeltas())
 *   .subscribe((text) => console.log(text));
 * ```
 */
export function fallbackBeforeFirstToken<T, F extends readonly Fallback<unknown>[]>(
  ...next: F
): OperatorFunction<T, T | FallbackValue<F[number]>> {
  type R = T | FallbackValue<F[number]>;
  next.forEach(refuseOther);
  return (source) =>
    new Observable<R>((destination) => {
      const scope = openScope();
      const preamble = new Preamble<R>(destination, scope, true);
      const errors: unknown[] = [];

      const connect = (candidate: Observable<R>): void =>
        subscribeToTry(candidate, destination, preamble, scope.take(), onError);

      const fail = (error: unknown): void => {
        preamble.release();
        keepErrors(error, errors);
        destination.error(error);
      };

      const onError = (error: unknown): void => {
        const candidate = preamble.mayRestart(error) ? next[errors.length] : undefined;
        errors.push(error);
        if (candidate === undefined) {
          fail(error);
          return;
        }
        let input: Observable<R>;
        try {
          input = from((typeof candidate === 'function' ? candidate(error) : candidate) as ObservableInput<R>);
        } catch (thrown) {
          if (thrown !== error) errors.push(thrown);
          fail(thrown);
          return;
        }
        connect(input);
      };

      connect(source);
    });
}

/** Told where the mistake is, not once the first model has failed. */
function refuseOther(candidate: Fallback<unknown>): void {
  try {
    if (typeof candidate !== 'function') from(candidate);
  } catch (cause) {
    const message =
      'fallbackBeforeFirstToken: give it Observables, or functions that make them, as in other.responses(…)';
    throw new TypeError(message, { cause });
  }
}

/** All candidates' errors on the one that is raised, as an `AggregateError` has them. It may be frozen, or no object. */
function keepErrors(error: unknown, errors: readonly unknown[]): void {
  if (errors.length < 2 || typeof error !== 'object' || error === null) return;
  Reflect.defineProperty(error, 'errors', { value: errors, configurable: true });
}
