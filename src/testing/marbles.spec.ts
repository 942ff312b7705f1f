import { asyncScheduler, map, mergeMap, NEVER, Observable, timer } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { expectTypeOf } from 'expect-type';
import { createLlmClient } from 'rx-llm';
import type { ChatCompletionChunk } from '../endpoints/chat-completions/wire.js';
import { chat, marbles, type MarbleHelpers } from './index.js';

describe('marbles', () => {
  it(
    'passes when all expectations are met',
    marbles({ a: 1, b: 2 }, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold(' -a 20ms b-c-|', { c: 3 });
      const e1subs = ' ^- 20ms ----!';
      const expected = '-x 20ms y-z-|';

      expectObservable(e1.pipe(map((n) => 2 * n))).toBe(expected, { x: 2, y: 4, z: 6 });
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'gives marbles the values of the test, of the diagram, or themselves',
    marbles({ a: 'A', b: 'B' }, ({ cold, hot, expectObservable }) => {
      expectObservable(cold('-a-b-c|')).toBe('-x-y-z|', { x: 'A', y: 'B', z: 'c' });
      expectObservable(hot(' -a-b-c|', { b: 'own' })).toBe('-x-y-z|', { x: 'A', y: 'own', z: 'c' });
      expectObservable(cold('-a|')).toBe('-a|');
    }),
  );

  it(
    'raises errors as they are given',
    marbles(({ cold, hot, expectObservable }) => {
      const error = new Error('cut');
      expectObservable(cold('--#', undefined, error)).toBe('--#', undefined, error);
      expectObservable(hot(' --#', undefined, error)).toBe('--#', undefined, error);
      expectObservable(cold('--#')).toBe('                 --#');
    }),
  );

  it(
    'keeps time virtual',
    marbles(({ expectObservable, time }) => {
      expectObservable(timer(60_000)).toBe('1m (0|)', { 0: 0 });
      expect(time('---|')).toBe(3);
      expect(asyncScheduler.now()).toBe(0);
    }),
  );

  it(
    'checks at each flush what has been expected so far',
    marbles(({ cold, expectObservable, flush }) => {
      const seen: string[] = [];
      const e1 = cold('-a-b|');
      expectObservable(e1).toBe('-a-b|');
      e1.subscribe((value) => seen.push(value));
      flush();
      expect(seen).toEqual(['a', 'b']);
      expectObservable(e1).toBe('4ms -a-b|');
    }),
  );

  it('checks an expectation after a flush at the right line', () => {
    const test = marbles(({ cold, expectObservable, flush }) => {
      expectObservable(cold('-a|'));
      expectObservable(cold('-a|')).toBe('-a|');
      flush();
      expectObservable(cold('-b|')).toBe('2ms -c|', { c: 'another' });
    });

    expect(test).toThrow("c = 'another'");
  });

  it('can be nested in its own subscriptions', () => {
    marbles(({ cold, expectObservable }) => {
      const inner = cold('-x|');
      expectObservable(cold('-a|').pipe(mergeMap(() => inner))).toBe('--x|');
    })();
  });

  it('gives every run a scheduler of its own', () => {
    const test = marbles(({ cold, expectObservable }) => {
      expectObservable(cold('-a|')).toBe('-a|');
    });
    test();
    test();
  });

  it('leaves no trace of a test that failed', () => {
    const failing = marbles(({ cold, expectObservable }) => {
      expectObservable(cold('-a|')).toBe('-b|');
    });

    expect(failing).toThrow();
    expect(Math.abs(asyncScheduler.now() - Date.now())).toBeLessThan(1000);
    expect(failing).toThrow('first difference: expected b at 1ms, received a at 1ms');
  });

  it.each(['-', '-x'])('unsubscribes at its end from what is still open, whether it passes or not: %p', (expected) => {
    const left = jest.fn();
    const test = marbles(({ expectObservable, flush }) => {
      const open = new Observable(() => left);
      expectObservable(open).toBe(expected);
      expectObservable(open).toEqual(open);
      if (expected === '-') flush();
      expect(left).not.toHaveBeenCalled();
    });

    if (expected === '-') test();
    else expect(test).toThrow('nothing');
    expect(left).toHaveBeenCalledTimes(3);
  });

  it('leaves no clock of a client behind that waits for its key', async () => {
    const timers = jest.spyOn(globalThis, 'setInterval');
    const transport = jest.fn(() => NEVER);
    marbles(({ expectObservable }) => {
      const apiKey = (): Promise<string> => Promise.resolve('key');
      const llm = createLlmClient({ baseUrl: 'https://gateway.example/v1', apiKey, transport });
      expectObservable(llm.responses({ model: 'm', input: 'Hi' })).toBe('-');
    })();

    await Promise.resolve();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(transport).not.toHaveBeenCalled();
    expect(timers).not.toHaveBeenCalled();
    timers.mockRestore();
  });

  it('has no parameter that a runner could take for its callback', () => {
    expect(marbles(() => undefined)).toHaveLength(0);
  });

  it('points to the expectation that was not met', () => {
    const lineOf = (error: unknown): string | undefined =>
      (error as Error).stack?.split('\n').find((line) => line.includes('marbles.spec.ts'));
    let here: Error | undefined;
    const test = marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('-a|');
      expectObservable(e1).toBe('-a|');
      here = new Error();
      expectSubscriptions(e1.subscriptions).toBe('^-----!');
    });

    let thrown: unknown;
    try {
      test();
    } catch (error) {
      thrown = error;
    }
    const line = (text: string | undefined): number => Number(/spec\.ts:(\d+)/.exec(text ?? '')?.[1]);
    // The expectation stands on the line after.
    expect(line(lineOf(thrown))).toBe(line(lineOf(here)) + 1);
  });

  it('refuses a Promise, which would never resolve', () => {
    const test = marbles((async () => {
      await Promise.resolve();
    }) as () => void);

    expect(test).toThrow('The body of a marble test must be synchronous: no Promise resolves in virtual time.');
  });
});

describe('the types of marbles', () => {
  it('are those of the marbles that stand in a diagram', () => {
    const values = { h: chat.text('Hi'), n: 1, m: true };
    const body = (helpers: MarbleHelpers<typeof values>): void => {
      const { cold, hot } = helpers;
      expectTypeOf(cold('--h-|')).toExtend<Observable<ChatCompletionChunk>>();
      expectTypeOf(cold('--n-|')).toExtend<Observable<number>>();
      expectTypeOf(cold('--n 20ms n 1.5s (n|)')).toExtend<Observable<number>>();
      expectTypeOf(hot('^-h-n|')).toExtend<Observable<ChatCompletionChunk | number>>();
      expectTypeOf(cold('--x|')).toExtend<Observable<string>>();
      expectTypeOf(cold('--n|', { n: 'own' })).toExtend<Observable<string>>();
      expectTypeOf(cold('--#')).toExtend<Observable<never>>();
      expectTypeOf(cold('--h#', undefined, new Error('cut'))).toExtend<Observable<ChatCompletionChunk>>();
    };
    marbles(values, body)();
  });

  it('are strings where no values are given', () => {
    marbles((helpers) => {
      expectTypeOf(helpers.cold('--a|')).toExtend<Observable<string>>();
      expectTypeOf(helpers.cold<number>('--a|', { a: 1 })).toExtend<Observable<number>>();
    })();
  });

  it('fit where the helpers of the TestScheduler do', () => {
    expectTypeOf<MarbleHelpers>().toExtend<RunHelpers>();
  });
});
