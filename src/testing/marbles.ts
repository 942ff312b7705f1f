import { Observable, Subscription } from 'rxjs';
import { TestScheduler, type RunHelpers } from 'rxjs/testing';
import { MarbleMismatch, mismatch, type MarbleValues } from './expect-marbles.js';

type ColdObservable<T> = ReturnType<typeof TestScheduler.prototype.createColdObservable<T>>;
type HotObservable<T> = ReturnType<typeof TestScheduler.prototype.createHotObservable<T>>;
type NoValues = Readonly<Record<never, never>>;

/**
 * What the body of a marble test is given: the helpers of `TestScheduler.run`. Where a diagram has a marble that its
 * own `values` do not define, the values of the test do; a marble that neither defines stands for itself.
 */
export interface MarbleHelpers<V extends MarbleValues = NoValues> extends Omit<RunHelpers, 'cold' | 'hot'> {
  cold<M extends string>(marbles: M, values?: undefined, error?: unknown): ColdObservable<ValueIn<M, V>>;
  cold<T = string>(marbles: string, values?: Readonly<Record<string, T>>, error?: unknown): ColdObservable<T>;
  hot<M extends string>(marbles: M, values?: undefined, error?: unknown): HotObservable<ValueIn<M, V>>;
  hot<T = string>(marbles: string, values?: Readonly<Record<string, T>>, error?: unknown): HotObservable<T>;
}

/** What a diagram emits: the values of the marbles that stand in it. */
type ValueIn<M extends string, V> = [keyof V] extends [never]
  ? string
  : string extends M
    ? V[keyof V]
    : { [K in Marble<M>]: K extends keyof V ? V[K] : K extends Syntax ? never : string }[Marble<M>];
type Syntax = '-' | ' ' | '(' | ')' | '|' | '#' | '^' | '.' | 'm' | 's' | `${number}`;
type Marble<M extends string, Seen = never> = M extends `${infer A} ${number}${'ms' | 's' | 'm'} ${infer B}`
  ? Marble<`${A}${B}`, Seen>
  : M extends `${infer First}${infer Rest}`
    ? Marble<Rest, Seen | First>
    : Seen;

/**
 * The body of a marble test, for the `it` or `test` of any runner: runs `body` in virtual time and checks what it
 * expects. A failure is drawn as {@link expectMarbles} says, its stack points to the expectation that was not met, and
 * the marbles are named after the values of the diagrams. What is still subscribed to at the end of the test is
 * unsubscribed from, once all has been checked.
 *
 * ```text
 * cold      -a-b-|      a and b from the values of the test, or their own
 * expected  -a-b-|
 * ```
 *
 * @param values - What the marbles of all diagrams of the test stand for. Optional.
 * @param body - Must be synchronous: a Promise does not resolve in virtual time, and one that it returns is an error.
 * @throws {@link MarbleMismatch} when an expectation is not met.
 *
 * @example
 * ```ts
 * import { textDeltas } from 'rx-llm';
 * import { chat, marbles } from 'rx-llm/testing';
 *
 * const values = { h: chat.text('Hello'), e: chat.finish('stop') };
 *
 * it(
 *   'passes the text on as it comes',
 *   marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
 *     const e1 = cold('       --h-e-|');
 *     const e1subs = '        ^-----!';
 *     const expected = '      --x---|';
 *
 *     expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Hello' });
 *     expectSubscriptions(e1.subscriptions).toBe(e1subs);
 *   }),
 * );
 * ```
 */
export function marbles(body: (helpers: MarbleHelpers) => void): () => void;
export function marbles<V extends MarbleValues>(values: V, body: (helpers: MarbleHelpers<V>) => void): () => void;
export function marbles(...args: [body: Body] | [values: MarbleValues, body: Body]): () => void {
  const [values, body] = args.length === 1 ? [{}, args[0]] : args;
  // No parameters: a runner would take the first for its `done`.
  return () => {
    run(values, body);
  };
}

/** Takes the helpers, whatever values they are typed for. */
type Body = (helpers: never) => void;

/** An expectation that the scheduler has not checked yet; it checks them in the order in which they were written. */
interface Expectation {
  site?: Error;
  values: MarbleValues;
}

function run(values: MarbleValues, body: Body): void {
  let known: MarbleValues = values;
  const open: Expectation[] = [];
  const left = new Subscription();

  const scheduler = new TestScheduler((received: unknown, expected: unknown) => {
    const index = open.findIndex((expectation) => expectation.site);
    const [{ site, values: own } = { values: {} }] = index < 0 ? [] : open.splice(index, 1);
    const message = mismatch(received, expected, { ...known, ...own });
    if (message !== undefined) throw located(new MarbleMismatch(message), site);
  });

  const complete = (marbles: string, own: object | undefined): Record<string, unknown> => {
    const all: Record<string, unknown> = {};
    for (const mark of marbles) all[mark] = mark;
    Object.assign(all, values, own);
    known = { ...own, ...known };
    return all;
  };

  /** Ends with the test: what waits for a Promise goes on in real time, and its clocks would keep the runner alive. */
  const untilEnd = <T>(observable: Observable<T>): Observable<T> =>
    new Observable((subscriber) => {
      left.add(subscriber);
      observable.subscribe(subscriber);
    });

  scheduler.run((helpers) => {
    const own: MarbleHelpers = {
      ...helpers,
      cold: <T>(marbles: string, own?: Readonly<Record<string, T>>, error?: unknown) =>
        helpers.cold(marbles, complete(marbles, own) as Record<string, T>, error),
      hot: <T>(marbles: string, own?: Readonly<Record<string, T>>, error?: unknown) =>
        helpers.hot(marbles, complete(marbles, own) as Record<string, T>, error),
      expectObservable: (observable, subscription) => {
        const expectation: Expectation = { values: {} };
        open.push(expectation);
        const { toBe, toEqual } = helpers.expectObservable(untilEnd(observable), subscription);
        return {
          toBe(marbles: string, own?: object, error?: unknown): void {
            expectation.site = here(this.toBe);
            expectation.values = { ...own };
            toBe(marbles, complete(marbles, own), error);
          },
          toEqual(other): void {
            expectation.site = here(this.toEqual);
            toEqual(untilEnd(other));
          },
        };
      },
      expectSubscriptions: (logs) => {
        const expectation: Expectation = { values: {} };
        open.push(expectation);
        const { toBe } = helpers.expectSubscriptions(logs);
        return {
          toBe(marbles: string | string[]): void {
            expectation.site = here(this.toBe);
            toBe(marbles);
          },
        };
      },
    };
    try {
      const result: unknown = body(own as never);
      if (isPromise(result)) {
        result.then(undefined, () => undefined);
        throw new TypeError('The body of a marble test must be synchronous: no Promise resolves in virtual time.');
      }
      helpers.flush();
    } finally {
      left.unsubscribe();
    }
  });
}

/** Remembers a line of the test, for the failure to point to. */
function here(caller: (...args: never[]) => void): Error {
  const site = new Error();
  Error.captureStackTrace?.(site, caller);
  return site;
}

/** The frames of `site` take the place of the error's own, which lie in the scheduler. */
function located(error: MarbleMismatch, site: Error | undefined): MarbleMismatch {
  const frames = site?.stack?.replace(/^Error.*\n/, '');
  if (frames) error.stack = `${error.name}: ${error.message}\n${frames}`;
  return error;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
