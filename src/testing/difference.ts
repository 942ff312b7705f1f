/** Where two values part: the path from their root, and what stands there on each side. */
export interface Difference {
  readonly path: string;
  readonly received: unknown;
  readonly expected: unknown;
}

/** What Jest, Vitest and Jasmine call an asymmetric matcher, `expect.objectContaining(…)` for one. */
export interface AsymmetricMatcher {
  asymmetricMatch(received: unknown): boolean;
  /** How it is printed. */
  toString(): string;
}

export function isMatcher(value: unknown): value is AsymmetricMatcher {
  return isObject(value) && typeof (value as Partial<AsymmetricMatcher>).asymmetricMatch === 'function';
}

/**
 * The first place where the values differ, or `undefined` where they are equal. A property that is `undefined` equals
 * one that is missing. Errors are equal if their class, name, message, cause and own fields are.
 */
export function difference(received: unknown, expected: unknown): Difference | undefined {
  return compare(received, expected, '', []);
}

export function equal(received: unknown, expected: unknown): boolean {
  return difference(received, expected) === undefined;
}

type Pair = readonly [received: object, expected: object];

function compare(received: unknown, expected: unknown, path: string, open: readonly Pair[]): Difference | undefined {
  if (Object.is(received, expected)) return undefined;
  const differs: Difference = { path, received, expected };
  if (isMatcher(expected)) return matches(expected, received) ? undefined : differs;
  if (!isObject(received) || !isObject(expected)) return differs;
  if (kindOf(received) !== kindOf(expected)) return differs;
  // A pair that is being compared further up is equal as far as this place can tell.
  if (open.some(([r, e]) => r === received && e === expected)) return undefined;
  const inner = [...open, [received, expected] as const];

  if (received instanceof Date && expected instanceof Date) {
    return Object.is(received.getTime(), expected.getTime()) ? undefined : differs;
  }
  if (received instanceof RegExp && expected instanceof RegExp) {
    return String(received) === String(expected) ? undefined : differs;
  }
  if (received instanceof Map && expected instanceof Map) {
    return compare([...received], [...expected], path, inner) && differs;
  }
  if (received instanceof Set && expected instanceof Set) {
    return compare([...received], [...expected], path, inner) && differs;
  }
  if (received instanceof ArrayBuffer && expected instanceof ArrayBuffer) {
    return compare(new Uint8Array(received), new Uint8Array(expected), path, inner) && differs;
  }
  if (ArrayBuffer.isView(received) && ArrayBuffer.isView(expected)) {
    return sameBytes(bytesOf(received), bytesOf(expected)) ? undefined : differs;
  }
  const areErrors = isError(received) && isError(expected);
  if (areErrors && !sameClass(received, expected)) return differs;

  for (const key of keysOf(received, expected)) {
    const found = compare(read(received, key), read(expected, key), join(path, key, received), inner);
    if (found) return found;
  }
  // What JavaScript keeps out of sight, or on a prototype: all but the stack.
  for (const key of areErrors ? (['message', 'cause', 'errors'] as const) : []) {
    const found = compare(Reflect.get(received, key), Reflect.get(expected, key), join(path, key, received), inner);
    if (found) return found;
  }
  if (Array.isArray(received) && Array.isArray(expected) && received.length !== expected.length) {
    return { path: `${path}.length`, received: received.length, expected: expected.length };
  }
  return undefined;
}

function matches(matcher: AsymmetricMatcher, received: unknown): boolean {
  try {
    return matcher.asymmetricMatch(received);
  } catch {
    return false;
  }
}

/** Errors of another realm are errors, too: those of the platform, for a test that runs in a context of its own. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || /^\[object (Error|DOMException)\]$/.test(Object.prototype.toString.call(value));
}

/** The name of a value's class; empty where it has none. */
export function classOf(value: object): string {
  const prototype = Object.getPrototypeOf(value) as { readonly constructor?: { readonly name?: unknown } } | null;
  const name = prototype?.constructor?.name;
  return typeof name === 'string' ? name : '';
}

function sameClass(a: Error, b: Error): boolean {
  return a.name === b.name && classOf(a) === classOf(b);
}

/** Own enumerable keys of both sides. */
function keysOf(received: object, expected: object): Set<PropertyKey> {
  return new Set([...enumerable(expected), ...enumerable(received)]);
}

function enumerable(value: object): PropertyKey[] {
  return Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
}

function read(object: object, key: PropertyKey): unknown {
  return Object.hasOwn(object, key) ? (object as Record<PropertyKey, unknown>)[key] : undefined;
}

function join(path: string, key: PropertyKey, parent: object): string {
  if (Array.isArray(parent)) return `${path}[${String(key)}]`;
  if (typeof key === 'symbol') return `${path}[${String(key)}]`;
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(String(key))
    ? `${path}.${String(key)}`
    : `${path}[${JSON.stringify(key)}]`;
}

function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** `Object`, `Array`, `Map`…: plain objects and instances of classes are told apart by their fields alone. */
function kindOf(value: object): string {
  return isError(value) ? 'Error' : Object.prototype.toString.call(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
