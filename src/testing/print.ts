import { classOf, isError, isMatcher } from './difference.js';

const MAX_STRING = 60;
/** What an error says is what the reader looks for. */
const MAX_MESSAGE = 300;
const MAX_ITEMS = 12;
const MAX_DEPTH = 6;

/** A value on one line, much as it would be written in code; what is long is cut at an ellipsis. */
export function print(value: unknown): string {
  return write(value, []);
}

/** What an error says; it is longer than other text. */
export function printMessage(message: unknown): string {
  return typeof message === 'string' ? quote(message, MAX_MESSAGE) : print(message);
}

function write(value: unknown, parents: readonly object[]): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `[function ${value.name || 'anonymous'}]`;
  if (Object.is(value, -0)) return '-0';
  if (typeof value !== 'object' || value === null) return String(value);

  if (parents.includes(value)) return '[circular]';
  if (parents.length >= MAX_DEPTH) return Array.isArray(value) ? '[…]' : '{…}';
  const inner = [...parents, value];

  if (isMatcher(value)) return String(value);
  if (Array.isArray(value))
    return bracket(
      '[',
      list(value, (item) => write(item, inner)),
      ']',
    );
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Uint8Array) return `bytes ${quote(new TextDecoder().decode(value))}`;
  if (ArrayBuffer.isView(value)) return `${classOf(value)}(${value.byteLength} bytes)`;
  if (value instanceof Set)
    return bracket(
      'Set { ',
      list([...value], (item) => write(item, inner)),
      ' }',
    );
  if (value instanceof Map) {
    const entries = list([...value], ([key, item]) => `${write(key, inner)} => ${write(item, inner)}`);
    return bracket('Map { ', entries, ' }');
  }

  const keys = Object.keys(value).filter((key) => read(value, key) !== undefined);
  if (isError(value)) {
    const fields = keys.filter((key) => key !== 'name' && key !== 'message');
    if (value.cause !== undefined && !fields.includes('cause')) fields.push('cause');
    const own = bracket(
      ' { ',
      list(fields, (key) => field(value, key, inner)),
      ' }',
    );
    return `${nameOfError(value)}: ${printMessage(value.message)}${fields.length > 0 ? own : ''}`;
  }
  const name = classOf(value);
  const body = bracket(
    '{ ',
    list(keys, (key) => field(value, key, inner)),
    ' }',
  );
  return name === 'Object' || name === '' ? body : `${name} ${body}`;
}

function field(object: object, key: string, parents: readonly object[]): string {
  const name = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? key : quote(key);
  return `${name}: ${write(read(object, key), parents)}`;
}

function read(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key];
  } catch {
    return '[getter threw]';
  }
}

function list<T>(items: readonly T[], each: (item: T) => string): string {
  const shown = items.slice(0, MAX_ITEMS).map(each);
  if (items.length > MAX_ITEMS) shown.push(`… ${items.length - MAX_ITEMS} more`);
  return shown.join(', ');
}

function bracket(open: string, content: string, close: string): string {
  return content === '' ? open.trim() + close.trim() : open + content + close;
}

function quote(text: string, max = MAX_STRING): string {
  const cut = text.length > max;
  const json = JSON.stringify(cut ? text.slice(0, max) : text);
  const body = json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return cut ? `'${body}…' (${text.length} characters)` : `'${body}'`;
}

function nameOfError(error: Error): string {
  const { name } = error;
  const className = classOf(error);
  return name === className || name !== 'Error' ? name : className;
}
