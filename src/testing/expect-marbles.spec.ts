import { concat, map, mergeMap, NEVER, of, throwError } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { StreamTimeoutError, TruncatedStreamError } from '../errors.js';
import { errorWith, expectMarbles, MarbleMismatch, marbles, type MarbleHelpers, type MarbleValues } from './index.js';

/** The message of a marble test that fails. */
function failure(body: (helpers: MarbleHelpers) => void): string {
  try {
    marbles(body)();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the marble test passed');
}

const lines = (...text: string[]): string => [...text, ''].join('\n');

describe('a failed marble expectation', () => {
  it('draws both sides under each other and points to the first difference', () => {
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold('-a--b|')).toBe('-a-x-|');
    });

    expect(message).toBe(
      lines(
        'emissions differ',
        '',
        '  expected  -a-x-|',
        '  received  -a--b|',
        '               ↑',
        'first difference: expected x at 3ms, received b at 4ms',
      ),
    );
  });

  it('names the values after the marbles of the test and says where they part', () => {
    const values = {
      a: 1,
      x: { choices: [{ delta: { content: 'Hi' } }] },
      y: { choices: [{ delta: { content: 'Ho' } }] },
    };
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold('-a-y|', values)).toBe('-a-x|', values);
    });

    expect(message).toBe(
      lines(
        'emissions differ',
        '',
        '  expected  -a-x|',
        '  received  -a-y|',
        '               ↑',
        'first difference: expected x at 3ms, received y at 3ms',
        "  choices[0].delta.content: expected 'Hi', received 'Ho'",
        '',
        '  a = 1',
        "  x = { choices: [{ delta: { content: 'Hi' } }] }",
        "  y = { choices: [{ delta: { content: 'Ho' } }] }",
      ),
    );
  });

  it('keeps one column for one frame where a side has groups', () => {
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold('-(ab)--c|')).toBe('-a-----c--|');
    });

    expect(message).toBe(
      lines(
        'emissions differ',
        '',
        '  expected  -a-----c--|',
        '  received  -(ab)--c|',
        '               ↑',
        'first difference: expected c at 7ms, received b at 1ms',
      ),
    );
  });

  it('keeps the columns where frames lie within the width of a group', () => {
    // Frame 2 cannot be written after a group at frame 1: the marks stay in line, and spaces take no time.
    const message = failure(({ cold, expectObservable }) => {
      const received = cold('-ad---|').pipe(mergeMap((x) => (x === 'a' ? of('a', 'b', 'c') : of(x))));
      expectObservable(received).toBe('-ad---|');
    });

    expect(message).toContain(
      lines(
        '  expected  -a    d---|',
        '  received  -(abc)d---|',
        '               ↑', //
      ),
    );
  });

  it('writes long silences as durations, the same in both lines', () => {
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold('-a 200ms b 3s c|')).toBe('-a 200ms b 2s x|');
    });

    expect(message).toContain(
      lines(
        '  expected  -a 200ms b 2000ms x|',
        '  received  -a 200ms b 2000ms -- 998ms c|',
        '                              ↑',
        'first difference: expected x at 2203ms, received c at 3203ms',
      ),
    );
  });

  it('begins with a duration where nothing comes for long', () => {
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold('500ms a|')).toBe('500ms b|');
    });

    expect(message).toContain('  expected  500ms b|\n  received  500ms a|\n                  ↑\n');
  });

  it('cuts long diagrams to what surrounds the difference', () => {
    const long = 'a-'.repeat(150);
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold(`${long}b${long}`)).toBe(`${long}c${long}`);
    });

    const [, , expected = '', received = '', pointer = ''] = message.split('\n');
    expect(expected).toMatch(/^ {2}expected {2}… (a-){30}ca(-a){29} …$/);
    expect(received).toBe(expected.replace('  expected', '  received').replace('-ca', '-ba'));
    expect(expected.length).toBeLessThan(140);
    expect(pointer.indexOf('↑')).toBe(received.indexOf('-ba') + 1);
  });

  it('tells two errors in one place apart, and prints their messages whole', () => {
    const long =
      'The gateway could not be reached, and nobody knows why. Check the address, the proxy and the network.';
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold('---#', {}, new Error(long))).toBe('---#', {}, new Error(`${long} Or wait.`));
    });

    expect(message).toBe(
      lines(
        'emissions differ',
        '',
        '  expected  ---#',
        '  received  ---#',
        '               ↑',
        'first difference: the errors at 3ms differ',
        `  message: expected '${long} Or wait.', received '${long}'`,
        '',
        `  # = Error: '${long} Or wait.'`,
        `  # = Error: '${long}'`,
      ),
    );
  });

  it('gives more unknown values than there are digits a marble each, and lists them', () => {
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold('abcdefghijklmno|').pipe(map((x) => `value ${x}`))).toBe('|');
    });

    expect(message).toContain('  received  ①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮|\n');
    expect(message).toContain("  ① = 'value a'\n");
    expect(message).toContain("  ⑮ = 'value o'\n");
  });

  it('still tells a hundred unknown values from each other', () => {
    const message = failure(({ cold, expectObservable }) => {
      const numbers = Array.from({ length: 100 }, (_, index) => index);
      expectObservable(cold('(a|)').pipe(mergeMap(() => numbers))).toBe('|');
    });

    expect(new Set(message.match(/^ {2}\S = \d+$/gmu)).size).toBe(100);
  });

  it('says that nothing came, or that nothing was expected', () => {
    const nothing = failure(({ expectObservable }) => {
      expectObservable(NEVER).toBe('--a');
    });
    expect(nothing).toContain('  expected  --a\n  received  ---\n');
    expect(nothing).toContain('first difference: expected a at 2ms, received nothing\n');

    const something = failure(({ cold, expectObservable }) => {
      expectObservable(cold('--a')).toBe('---');
    });
    expect(something).toContain('first difference: expected nothing, received a at 2ms\n');
  });

  it('draws inner Observables as diagrams in the legend', () => {
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold('-x|', { x: cold('--a|') })).toBe('-y|', { y: cold('--b|') });
    });

    expect(message).toContain('  ① = an Observable of --b|\n  ② = an Observable of --a|\n');
  });

  it('names an emoji by itself and counts it as one column', () => {
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold('-😀-b|')).toBe('-😀-c|');
    });

    expect(message).toContain('  expected  -😀-c|\n  received  -😀-b|\n');
  });
});

describe('errors', () => {
  it('of another class differ though their messages are equal', () => {
    const message = failure(({ cold, expectObservable }) => {
      expectObservable(cold('--#', {}, new TypeError('cut'))).toBe('--#', {}, new RangeError('cut'));
    });

    expect(message).toBe(
      lines(
        'emissions differ',
        '',
        '  expected  --#',
        '  received  --#',
        '              ↑',
        'first difference: the errors at 2ms differ',
        "  the error: expected RangeError: 'cut', received TypeError: 'cut'",
        '',
        "  # = RangeError: 'cut'",
        "  # = TypeError: 'cut'",
      ),
    );
  });

  it('of a class that kept the name Error differ from an Error', () => {
    class MyError extends Error {}
    expect(
      failure(({ cold, expectObservable }) => {
        expectObservable(cold('#', {}, new MyError('cut'))).toBe('#', {}, new Error('cut'));
      }),
    ).toContain("expected Error: 'cut', received MyError: 'cut'");
  });

  it('differ in their own fields, their cause and their message', () => {
    const differs = (received: Error, expected: Error): string =>
      failure(({ cold, expectObservable }) => {
        expectObservable(cold('#', {}, received)).toBe('#', {}, expected);
      });

    expect(
      differs(new TruncatedStreamError('cut', { status: 200 }), new TruncatedStreamError('cut', { status: 206 })),
    ).toContain('  status: expected 206, received 200\n');
    expect(differs(new Error('cut', { cause: 'a' }), new Error('cut', { cause: 'b' }))).toContain(
      "cause: expected 'b'",
    );
    expect(differs(new Error('cut'), new Error('kept'))).toContain("message: expected 'kept', received 'cut'");
  });

  it('of the platform differ in what they inherit', () => {
    const aborted = (reason?: string): unknown => AbortSignal.abort(reason).reason;
    expectMarbles()(aborted(), aborted());
    expect(() => {
      expectMarbles()(new DOMException('a', 'AbortError'), new DOMException('b', 'AbortError'));
    }).toThrow('values differ');
    expect(() => {
      expectMarbles()(new DOMException('a', 'AbortError'), new DOMException('a', 'TimeoutError'));
    }).toThrow("received  AbortError: 'a'");
  });

  it(
    'are equal if class, message and fields are',
    marbles(({ expectObservable }) => {
      const timeout = (): Error => new StreamTimeoutError('too slow', 'idle', { endpoint: 'messages', status: 200 });
      expectObservable(throwError(timeout)).toBe('#', {}, timeout());
    }),
  );

  it(
    'can be described by some of their fields',
    marbles(({ expectObservable }) => {
      const timeout = (): Error => new StreamTimeoutError('too slow', 'idle', { endpoint: 'messages', status: 200 });
      expectObservable(throwError(timeout)).toBe('#', {}, errorWith({ kind: 'timeout', phase: 'idle' }));
    }),
  );

  it('that lack a described field are drawn with the description', () => {
    const message = failure(({ expectObservable }) => {
      expectObservable(throwError(() => new Error('no'))).toBe('#', {}, errorWith({ kind: 'timeout' }));
    });

    expect(message).toContain("  the error: expected an error with { kind: 'timeout' }, received Error: 'no'\n");
  });
});

describe('values', () => {
  it(
    'may be described by the asymmetric matchers of the test runner',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('-a|', { a: { id: 'x1', text: 'Hi' } });
      expectObservable(e1).toBe('-a|', { a: expect.objectContaining({ text: 'Hi' }) });
    }),
  );

  it.each<[string, unknown, unknown]>([
    ['an absent property and one that is undefined', { a: 1, b: undefined }, { a: 1 }],
    ['NaN', [NaN], [NaN]],
    [
      'an instance and a plain object',
      new (class A {
        a = 1;
      })(),
      { a: 1 },
    ],
    ['dates', new Date(5), new Date(5)],
    ['maps and sets', new Map([['a', new Set([1])]]), new Map([['a', new Set([1])]])],
    ['bytes', Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
    ['objects without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ])('are equal: %s', (_, a, b) => {
    expectMarbles()(a, b);
  });

  it.each<[string, unknown, unknown]>([
    ['a property too many', { a: 1, b: 2 }, { a: 1 }],
    ['a property too few', { a: 1 }, { a: 1, b: 2 }],
    ['an item too many', [1, 2], [1]],
    ['undefined items', [undefined], []],
    ['null and undefined', { a: null }, {}],
    ['zeros of other signs', 0, -0],
    ['arrays and objects', [], {}],
    ['dates', new Date(5), new Date(6)],
    ['maps', new Map([['a', 1]]), new Map([['a', 2]])],
    ['sets', new Set([1]), new Set([2])],
    ['bytes', Uint8Array.of(1, 2), Uint8Array.of(1, 3)],
    ['patterns', /a/, /a/i],
    ['inherited names', {}, Object.fromEntries([['constructor', 1]])],
    ['functions', () => 1, () => 1],
  ])('differ: %s', (_, a, b) => {
    expect(() => {
      expectMarbles()(a, b);
    }).toThrow('values differ');
  });

  it('may hold themselves', () => {
    const cycle = (name: string): object => {
      const object: { name: string; self?: object } = { name };
      return Object.assign(object, { self: object });
    };
    expectMarbles()(cycle('a'), cycle('a'));
    expect(() => {
      expectMarbles()(cycle('a'), cycle('b'));
    }).toThrow("{ name: 'b', self: [circular] }");
  });
});

describe('subscriptions', () => {
  it('are drawn too', () => {
    const message = failure(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('--a--|');
      expectObservable(e1, '^--!');
      expectObservable(concat(e1, e1)).toBe('--a----a--|');
      expectSubscriptions(e1.subscriptions).toBe(['^--!', '^----!', '-----^---!']);
    });

    expect(message).toBe(
      lines(
        'subscriptions differ',
        '',
        '  expected  ^--!',
        '            ^----!',
        '            -----^---!',
        '  received  ^--!',
        '            ^----!',
        '            -----^----!',
        '                     ↑',
        'first difference: subscription 3: expected one from 5ms, ended at 9ms; received one from 5ms, ended at 10ms',
      ),
    );
  });

  it('that are missing, too many, or not ended are named so', () => {
    const differs = (expected: string | string[]): string =>
      failure(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('--a');
        expectObservable(e1).toBe('--a');
        expectSubscriptions(e1.subscriptions).toBe(expected);
      });

    expect(differs('^--!')).toContain('expected one from 0ms, ended at 3ms; received one from 0ms, never ended\n');
    expect(differs([])).toContain('  expected  (nothing)\n  received  ^\n');
    expect(differs(['^', '^'])).toContain('subscription 2: expected one from 0ms, never ended; received none\n');
  });
});

describe('expectMarbles', () => {
  it('names the marbles after the values that it was given', () => {
    const values: MarbleValues = { a: { text: 'one' }, b: { text: 'two' } };
    expect(() => {
      new TestScheduler(expectMarbles(values)).run(({ cold, expectObservable }) => {
        expectObservable(cold('-a-|', values)).toBe('-b-|', values);
      });
    }).toThrow(
      "  expected  -b-|\n  received  -a-|\n             ↑\nfirst difference: expected b at 1ms, received a at 1ms\n  text: expected 'two'",
    );
  });

  it('raises a MarbleMismatch', () => {
    expect(() => {
      expectMarbles()([], 1);
    }).toThrow(MarbleMismatch);
  });

  it('passes what is equal', () => {
    new TestScheduler(expectMarbles()).run(({ cold, expectObservable }) => {
      expectObservable(cold('-a-(b|)')).toBe('-a-(b|)');
    });
  });
});
