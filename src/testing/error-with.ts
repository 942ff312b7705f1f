import { equal, isError, type AsymmetricMatcher } from './difference.js';
import { print } from './print.js';

export type { AsymmetricMatcher };

/**
 * Stands for any error that has these fields, `name` and `message` included, in a marble test or wherever a runner
 * takes asymmetric matchers. Fields may be matchers themselves.
 *
 * @example
 * ```ts
 * import { throwError } from 'rxjs';
 * import { StreamTimeoutError } from 'rx-llm';
 * import { errorWith, marbles } from 'rx-llm/testing';
 *
 * it(
 *   'gives up',
 *   marbles(({ expectObservable }) => {
 *     const source = throwError(() => new StreamTimeoutError('No byte came for 5 s', 'idle'));
 *     expectObservable(source).toBe('#', {}, errorWith({ name: 'StreamTimeoutError', phase: 'idle' }));
 *   }),
 * );
 * ```
 */
export function errorWith(fields: Readonly<Record<string, unknown>>): AsymmetricMatcher {
  return {
    asymmetricMatch: (received) =>
      isError(received) && Object.entries(fields).every(([key, value]) => equal(Reflect.get(received, key), value)),
    toString: () => `an error with ${print(fields)}`,
  };
}
