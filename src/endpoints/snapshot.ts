// What the readers of whole messages are made of: plain values that are never changed, only replaced along the path
// from the root to what is new, so that everything else keeps its identity from one snapshot to the next.

import { fields, type Fields } from './fields.js';

/** Deeper than any endpoint's objects; what lies below is replaced as a whole, lest a hostile depth break the stack. */
const DEEPEST = 40;

/** Lists of parts, which come more than once and may come poorer. All other lists are what was said of them last. */
const PARTS = ['content', 'summary'];

const step = (length: number): number => Math.floor(Math.log2(length) * 6);

/**
 * A text and what follows it. Engines keep the pieces, which weigh many times the text, until a character is read: so
 * one is, whenever the text has grown by an eighth, which keeps the cost linear.
 */
export function joinText(before: string, piece: string): string {
  const joined = before + piece;
  if (joined.length > 256 && step(joined.length) !== step(before.length)) joined.charCodeAt(0);
  return joined;
}

/** The object with one field set; the object itself if the field has that value already. */
export function put<T extends object>(object: T, name: string, value: unknown): T {
  return Object.hasOwn(object, name) && Object.is(fields(object)[name], value) ? object : { ...object, [name]: value };
}

/** The list with one member replaced, or appended; the list itself if the member is that value already. */
export function putAt<T>(values: readonly T[], index: number, value: T): readonly T[] {
  if (index < values.length && Object.is(values[index], value)) return values;
  const copy = values.slice();
  copy[index] = value;
  return copy;
}

/** The list with one member more, at a place. */
export function insert<T>(values: readonly T[], index: number, value: T): readonly T[] {
  return index === values.length ? [...values, value] : [...values.slice(0, index), value, ...values.slice(index)];
}

/** The newer list, or the older one if it has the same members. */
export function keepList<T>(older: readonly T[], newer: readonly T[]): readonly T[] {
  return older.length === newer.length && older.every((value, i) => Object.is(value, newer[i])) ? older : newer;
}

/** The value says nothing: absent, null, an empty text or an empty list. */
export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/**
 * The newer value, laid over the older: whatever is empty in it erases nothing, and whatever is equal in both keeps the
 * identity that it had. Costs no more than the newer value is large.
 */
export function overlay<T>(older: T, newer: unknown): T {
  return lay(older, newer, 0) as T;
}

function lay(older: unknown, newer: unknown, depth: number): unknown {
  if (isEmpty(newer)) return older === undefined ? newer : older;
  if (!isRecord(older) || !isRecord(newer) || depth > DEEPEST) return share(older, newer, depth);
  let result: Fields = older;
  for (const name of Object.keys(newer)) {
    const value = newer[name];
    const before = Object.hasOwn(older, name) ? older[name] : undefined;
    const laid =
      PARTS.includes(name) && Array.isArray(before) && Array.isArray(value)
        ? layParts(before, value, depth + 1)
        : lay(before, value, depth + 1);
    if (!Object.is(laid, before)) result = { ...result, [name]: laid };
  }
  return result;
}

/** A part of another type is another part. */
function layParts(older: readonly unknown[], newer: readonly unknown[], depth: number): readonly unknown[] {
  if (newer.length === 0) return older;
  const parts = newer.map((part, i) => {
    const before = older[i];
    return fields(before).type === fields(part).type ? lay(before, part, depth) : part;
  });
  return keepList(older, parts);
}

/** The newer value, in which all that is equal in the older is the very same. */
function share(older: unknown, newer: unknown, depth: number): unknown {
  if (Object.is(older, newer) || depth > DEEPEST) return newer;
  if (Array.isArray(older) && Array.isArray(newer)) {
    return keepList(
      older,
      newer.map((value, i) => share(older[i], value, depth + 1)),
    );
  }
  if (!isRecord(older) || !isRecord(newer)) return newer;
  const names = Object.keys(newer);
  let isSame = names.length === Object.keys(older).length;
  // Entries make own fields of all names, `__proto__` too.
  const entries = names.map((name) => {
    const value = Object.hasOwn(older, name) ? share(older[name], newer[name], depth + 1) : newer[name];
    isSame &&= Object.hasOwn(older, name) && Object.is(value, older[name]);
    return [name, value] as const;
  });
  return isSame ? older : Object.fromEntries(entries);
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
