import { TextSoFar } from './text-so-far.js';

/** What the next character may be. */
type State =
  | 'value'
  | 'value or ]'
  | 'key'
  | 'key or }'
  | 'colon'
  | 'comma or end'
  | 'string'
  | 'escape'
  | 'unicode'
  | 'number'
  | 'literal'
  | 'end'
  | 'failed';

type Container = unknown[] | Record<string, unknown>;

/** An array or object that has not been closed yet. */
interface Open {
  /** The entries that are whole. Shown to nobody before it is closed, so it may be written to. */
  readonly container: Container;
  /** Of copying it. */
  cost: number;
  /** The key that the next value of an object belongs to. */
  key: string;
  /** The last copy that was shown, with the entry that was growing then as its last one. */
  shown: Container | undefined;
  growing: unknown;
  /** `shown` holds all of `container`, and nothing but that and `growing`. */
  current: boolean;
}

const NOTHING = Symbol();
type Literal = readonly [word: string, value: unknown];
const LITERALS: Readonly<Record<string, Literal>> = {
  t: ['true', true],
  f: ['false', false],
  n: ['null', null],
};
const NO_LITERAL: Literal = ['', undefined];
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What it costs to copy an element of an array, and a level or a key of an object. */
const ELEMENT = 1;
const KEY = 8;
/** A value is always renewed while all that stands in open containers costs no more than this. */
const ALWAYS_RENEWED = 512;
/** Beyond that, each character pays so much. */
const PAID_BY_CHARACTER = 4;

/**
 * A JSON text that is read once, piece by piece, and can be looked at in between. Each value that it shows is a plain
 * value of its own that later ones leave alone; parts that did not change are the same objects in both. Strings grow;
 * keys, numbers, `true`, `false` and `null` show once they are whole. At the first character that JSON does not allow
 * there, the value stops growing. It accepts what `JSON.parse` accepts, and ends at the same value.
 *
 * The containers that are still open have to be copied to be shown. So that reading stays linear in the length of the
 * text however often it is looked at, the copies of large ones are paid for by the characters that come in: beyond 512
 * elements or 64 keys in open containers the value is not renewed for each piece, but every so many characters: a
 * quarter of the number of elements, or twice the number of keys. The last value is always exact.
 *
 * None of the parsers on npm does this: partial-json, best-effort-json-parser and the like parse the whole text again
 * for each look; jsonriver (over async iterables only), `@streamparser/json` and others that go on where they
 * were change one and the same value in place, which change detection by identity cannot see.
 */
export class PartialJson {
  #state: State = 'value';
  readonly #open: Open[] = [];
  #root: unknown = NOTHING;

  /** The string or key that is being read. */
  #string = new TextSoFar();
  /** The characters of the number or literal that is being read. */
  #text = '';
  #isKey = false;
  /** The first half of a surrogate pair, until the second comes. */
  #half = '';
  #unicode = '';
  #literal: Literal = NO_LITERAL;

  /** Of copying all open containers. */
  #cost = 0;
  #paid = 0;
  #shown: unknown = undefined;

  push(piece: string): void {
    this.#paid += piece.length * PAID_BY_CHARACTER;
    let at = 0;
    while (at < piece.length && this.#state !== 'failed') {
      if (this.#state === 'string') at = this.#readString(piece, at);
      else if (this.#state === 'number') at = this.#readNumber(piece, at);
      else this.#readCharacter(piece.charAt(at++));
    }
  }

  /** The value so far; `undefined` before there is any. */
  value(): unknown {
    if (this.#root !== NOTHING) return this.#root;
    if (this.#cost > ALWAYS_RENEWED && this.#paid < this.#cost) return this.#shown;
    this.#paid = 0;
    let growing: unknown = this.#inString() && !this.#isKey ? this.#string.value : NOTHING;
    for (let level = this.#open.length - 1; level >= 0; level--) growing = show(this.#open[level] as Open, growing);
    return (this.#shown = growing === NOTHING ? undefined : growing);
  }

  /** No more text comes: whether it was JSON. */
  end(): boolean {
    if (this.#state === 'number' && this.#open.length === 0 && NUMBER.test(this.#text)) this.#finish(+this.#text);
    return this.#state === 'end';
  }

  #inString(): boolean {
    return this.#state === 'string' || this.#state === 'escape' || this.#state === 'unicode';
  }

  #readString(piece: string, from: number): number {
    let at = from;
    for (; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code === 0x22 || code === 0x5c || code < 0x20) break;
    }
    if (at > from) this.#append(piece.slice(from, at));
    if (at === piece.length) return at;
    const stop = piece.charAt(at);
    if (stop === '\\') this.#state = 'escape';
    else if (stop !== '"') this.#state = 'failed';
    else this.#closeString();
    return at + 1;
  }

  #append(piece: string): void {
    const text = this.#half + piece;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last < 0xdc00;
    this.#half = isHalf ? text.charAt(text.length - 1) : '';
    this.#string.add(isHalf ? text.slice(0, -1) : text);
  }

  #closeString(): void {
    const text = this.#string.add(this.#half);
    this.#half = '';
    text.charCodeAt(0); // makes it flat: of the short strings of a document the pieces would weigh several times the text
    if (this.#isKey) {
      (this.#open[this.#open.length - 1] as Open).key = text;
      this.#state = 'colon';
    } else {
      this.#finish(text);
    }
  }

  #readNumber(piece: string, from: number): number {
    let at = from;
    while (at < piece.length && isOfNumber(piece.charCodeAt(at))) at++;
    this.#text += piece.slice(from, at);
    if (at < piece.length) {
      // The character that ends a number is not part of it: it is read again.
      if (NUMBER.test(this.#text)) this.#finish(+this.#text);
      else this.#state = 'failed';
    }
    return at;
  }

  #readCharacter(char: string): void {
    switch (this.#state) {
      case 'escape': {
        const escaped = ESCAPES[char];
        this.#state = char === 'u' ? 'unicode' : escaped === undefined ? 'failed' : 'string';
        if (escaped !== undefined) this.#append(escaped);
        return;
      }
      case 'unicode':
        if (!/[\da-fA-F]/.test(char)) {
          this.#state = 'failed';
        } else if ((this.#unicode += char).length === 4) {
          this.#append(String.fromCharCode(parseInt(this.#unicode, 16)));
          this.#unicode = '';
          this.#state = 'string';
        }
        return;
      case 'literal':
        this.#readLiteral(char);
        return;
    }
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') return;
    switch (this.#state) {
      case 'value or ]':
        if (char === ']') this.#close();
        else this.#startValue(char);
        return;
      case 'value':
        this.#startValue(char);
        return;
      case 'key or }':
        if (char === '}') this.#close();
        else this.#startKey(char);
        return;
      case 'key':
        this.#startKey(char);
        return;
      case 'colon':
        this.#state = char === ':' ? 'value' : 'failed';
        return;
      case 'comma or end': {
        const inArray = Array.isArray((this.#open[this.#open.length - 1] as Open).container);
        if (char === ',') this.#state = inArray ? 'value' : 'key';
        else if (char === (inArray ? ']' : '}')) this.#close();
        else this.#state = 'failed';
        return;
      }
      default:
        this.#state = 'failed';
    }
  }

  #startValue(char: string): void {
    if (char === '{' || char === '[') {
      this.#open.push({
        container: char === '[' ? [] : {},
        cost: KEY,
        key: '',
        shown: undefined,
        growing: NOTHING,
        current: false,
      });
      this.#cost += KEY;
      this.#state = char === '[' ? 'value or ]' : 'key or }';
    } else if (char === '"') {
      this.#startString(false);
    } else if (char === '-' || isDigit(char.charCodeAt(0))) {
      this.#state = 'number';
      this.#text = char;
    } else {
      this.#literal = LITERALS[char] ?? NO_LITERAL;
      this.#state = this.#literal === NO_LITERAL ? 'failed' : 'literal';
      this.#text = char;
    }
  }

  #startKey(char: string): void {
    if (char === '"') this.#startString(true);
    else this.#state = 'failed';
  }

  #startString(isKey: boolean): void {
    this.#state = 'string';
    this.#string = new TextSoFar();
    this.#isKey = isKey;
  }

  #readLiteral(char: string): void {
    const [word, value] = this.#literal;
    this.#text += char;
    if (this.#text === word) this.#finish(value);
    else if (!word.startsWith(this.#text)) this.#state = 'failed';
  }

  #close(): void {
    const { container, cost, shown, growing, current } = this.#open.pop() as Open;
    this.#cost -= cost;
    this.#finish(current && growing === NOTHING && shown !== undefined ? shown : container);
  }

  /** A value is whole. */
  #finish(value: unknown): void {
    const open = this.#open[this.#open.length - 1];
    if (open === undefined) {
      this.#root = value;
      this.#state = 'end';
      return;
    }
    // What was shown as it grew is now an entry like the others.
    if (value !== open.growing) open.current = false;
    open.growing = NOTHING;
    put(open.container, open.key, value);
    const cost = Array.isArray(open.container) ? ELEMENT : KEY;
    open.cost += cost;
    this.#cost += cost;
    this.#state = 'comma or end';
  }
}

/** What is shown of an open container whose last entry is `growing`; the same as before if nothing changed. */
function show(open: Open, growing: unknown): Container {
  if (open.current && open.growing === growing && open.shown !== undefined) return open.shown;
  const shown = copyOf(open, growing);
  open.growing = growing;
  open.current = true;
  return (open.shown = shown);
}

function copyOf({ container, key }: Open, growing: unknown): Container {
  // `concat` makes room for the one more at once; pushed onto a copy, it would have all of it copied again.
  if (Array.isArray(container)) return growing === NOTHING ? container.slice() : container.concat([growing]);
  const copy = { ...container };
  if (growing !== NOTHING) put(copy, key, growing);
  return copy;
}

function put(container: Container, key: string, value: unknown): void {
  if (Array.isArray(container)) container.push(value);
  // Assigned, it would set the prototype.
  else if (key === '__proto__') {
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
  } else container[key] = value;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Digits, and `+ - . e E`. */
const isOfNumber = (code: number): boolean =>
  isDigit(code) || code === 0x2b || code === 0x2d || code === 0x2e || code === 0x45 || code === 0x65;
