/** An object off the wire: any field may be missing, null, or of another type than the wire's own. */
export type Fields = { readonly [name: string]: unknown };

const NONE: Fields = Object.freeze({});
const EMPTY: readonly unknown[] = Object.freeze([]);

/** The value if it is an object, else one without fields: `fields(fields(event).delta).text` needs no checks on the way. */
export const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : NONE;

/** The value if it is an array, else an empty one. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : EMPTY);

/** The value if it is a string, else an empty one. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The value if it is a string with more than white space in it, else an empty one. */
export const nonblank = (value: unknown): string => (typeof value === 'string' && value.trim() !== '' ? value : '');

/** Arguments of a tool as text; some servers send the value itself. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deep for the engine to write, though not to read.
    return '';
  }
}
