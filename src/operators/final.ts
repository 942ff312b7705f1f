import type { OperatorFunction } from 'rxjs';
import type { Concept } from '../concepts/concept.js';
import type { EndpointName } from '../events.js';
import { read } from './read.js';

/** What an operator that emits at the end does when the end is an error. */
export interface OnErrorConfig {
  /**
   * `'emit'` emits what is known before the error is passed on. `firstValueFrom` then takes that value, and never tells
   * of the failure.
   *
   * @defaultValue `'throw'`: the error alone
   */
  readonly onError?: 'throw' | 'emit' | undefined;
}

interface Tally<R> {
  readonly value: R | undefined;
}

/** Emits what a tally holds at the end, if it holds anything; `ofError` is asked where it holds nothing. */
export function final<T extends object, N extends EndpointName, R>(
  concept: Concept<(tally: Tally<R>) => void, N>,
  { onError = 'throw' }: OnErrorConfig = {},
  ofError?: (error: unknown) => R | undefined,
): OperatorFunction<T, R> {
  return read(concept, (destination) => {
    let last: Tally<R> | undefined;
    return {
      failures: true,
      sink(tally: Tally<R>) {
        last = tally;
      },
      flush(failure) {
        if (failure && onError !== 'emit') return;
        const value = last?.value ?? (failure && ofError?.(failure.error));
        if (value !== undefined) destination.next(value);
      },
    };
  });
}
