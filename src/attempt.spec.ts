import { AttemptScope, currentAttempt, mintKey, openScope, runAttempt } from './attempt.js';

const keyIn = (scope: AttemptScope): string | undefined => runAttempt(scope, () => currentAttempt()?.idempotencyKey);

describe('the scope of a try', () => {
  it('is there for as long as the call lasts, and no longer', () => {
    expect(currentAttempt()).toBeUndefined();
    expect(keyIn(openScope())).toMatch(/^[\w-]{32,36}$/);
    expect(currentAttempt()).toBeUndefined();
  });

  it('is taken back when the call throws', () => {
    const failing = () =>
      runAttempt(openScope(), () => {
        throw new Error('bug');
      });
    expect(failing).toThrow('bug');
    expect(currentAttempt()).toBeUndefined();
  });

  it('gives the same request the same key in every try, and another subscription another one', () => {
    const scope = openScope();
    expect(keyIn(scope)).toBe(keyIn(scope));
    expect(keyIn(scope)).not.toBe(keyIn(openScope()));
  });

  it('gives several requests of one try a key each, the same ones again in the next try', () => {
    const scope = openScope();
    const keys = () => [0, 1, 2].map(() => currentAttempt()?.idempotencyKey);
    const first = runAttempt(scope, keys);
    expect(new Set(first).size).toBe(3);
    expect(runAttempt(scope, keys)).toEqual(first);
  });

  it('lets the outer-most operator decide how long a key lives', () => {
    const outer = openScope();
    const tries = () => {
      const inner = openScope();
      return [keyIn(inner), keyIn(inner)];
    };
    const keys = [...runAttempt(outer, tries), ...runAttempt(outer, tries)];
    expect(new Set(keys).size).toBe(1);
  });

  it('takes the name of the header from the outer-most operator that has one', () => {
    const header = (outer?: string, inner?: string) =>
      runAttempt(openScope(outer), () => runAttempt(openScope(inner), () => currentAttempt()?.header));
    expect(header()).toBeUndefined();
    expect(header('x-outer')).toBe('x-outer');
    expect(header(undefined, 'x-inner')).toBe('x-inner');
    expect(header('x-outer', 'x-inner')).toBe('x-outer');
  });

  it('comes back after a call inside has ended', () => {
    const outer = openScope();
    const first = runAttempt(outer, () => currentAttempt()?.idempotencyKey);
    const again = runAttempt(outer, () => {
      const attempt = currentAttempt();
      runAttempt(new AttemptScope(), () => currentAttempt());
      return [attempt?.idempotencyKey, currentAttempt()?.idempotencyKey];
    });
    expect(again[0]).toBe(first);
    expect(again[1]).not.toBe(first);
  });

  it('reports a token to every operator around it, and to no other', () => {
    const [outer, sibling] = [openScope(), openScope()];
    let inner: AttemptScope | undefined;
    runAttempt(outer, () => {
      inner = openScope();
      runAttempt(inner, () => currentAttempt())?.markToken();
    });
    expect([outer.tokenSeen, inner?.tokenSeen, sibling.tokenSeen]).toEqual([true, true, false]);
  });
});

describe('mintKey', () => {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'crypto');

  afterEach(() => {
    if (own) Object.defineProperty(globalThis, 'crypto', own);
  });

  it.each([undefined, {}])('does without crypto.randomUUID (crypto is %p)', (crypto) => {
    Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true });
    const keys = Array.from({ length: 100 }, mintKey);
    expect(new Set(keys).size).toBe(100);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
  });
});
