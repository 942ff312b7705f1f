import { isObject, list, number, object, own, string, type Json } from '../json.js';
import type { Random } from './random.js';

/** What the prompt offers to fill values with, so that arguments speak of what was asked. */
export interface Hints {
  /** Names, most fitting first: quoted words, proper nouns, then other words. */
  readonly words: readonly string[];
  readonly numbers: readonly number[];
}

const MAX_DEPTH = 12;

/** A JSON value that fits the schema: the prompt fills it where it can, the seed elsewhere. */
export function instance(schema: unknown, random: Random, hints: Hints): unknown {
  let words = 0;
  let numbers = 0;
  const root = object(schema);

  const resolve = (ref: string): unknown => {
    if (!ref.startsWith('#')) return true;
    let at: unknown = root;
    for (const step of ref.slice(1).split('/').filter(Boolean)) {
      const key = decodeURIComponent(step).replace(/~1/g, '/').replace(/~0/g, '~');
      at = Array.isArray(at) ? (at as unknown[])[Number(key)] : own(object(at), key);
    }
    return at;
  };

  const nextWord = (name: string) => hints.words[words++] ?? `${name || 'value'} ${random.int(900) + 100}`;

  function text(s: Json, name: string): string {
    const format = string(own(s, 'format'));
    const day = `20${20 + random.int(10)}-0${1 + random.int(9)}-1${random.int(10)}`;
    const hex = (length: number) => Array.from({ length }, () => random.int(16).toString(16)).join('');
    switch (format) {
      case 'date':
        return day;
      case 'time':
        return `1${random.int(10)}:30:00Z`;
      case 'date-time':
        return `${day}T1${random.int(10)}:30:00Z`;
      case 'email':
        return `${random.id(6)}@example.org`;
      case 'uri':
      case 'url':
        return `https://example.org/${random.id(6)}`;
      case 'uuid':
        return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
      case 'ipv4':
        return `192.0.2.${1 + random.int(250)}`;
      case 'ipv6':
        return `2001:db8::${hex(4)}`;
      case 'hostname':
        return `${random.id(6)}.example.org`;
      case 'duration':
        return `PT${1 + random.int(50)}M`;
      default:
    }
    const pattern = string(own(s, 'pattern'));
    if (pattern) return fromPattern(pattern, random) ?? nextWord(name);
    let value = nextWord(name);
    const min = number(own(s, 'minLength')) ?? 0;
    const max = number(own(s, 'maxLength')) ?? Infinity;
    while ([...value].length < min) value += ` ${hints.words[random.int(hints.words.length || 1)] ?? 'more'}`;
    return [...value].length > max ? [...value].slice(0, max).join('') : value;
  }

  function numeric(s: Json, whole: boolean): number {
    const step = number(own(s, 'multipleOf')) ?? (whole ? 1 : 0);
    const exclusiveMin = number(own(s, 'exclusiveMinimum'));
    const exclusiveMax = number(own(s, 'exclusiveMaximum'));
    const grain = step || 0.5;
    const min = Math.max(
      number(own(s, 'minimum')) ?? -Infinity,
      exclusiveMin === undefined ? -Infinity : exclusiveMin + grain * 1e-3,
    );
    const max = Math.min(
      number(own(s, 'maximum')) ?? Infinity,
      exclusiveMax === undefined ? Infinity : exclusiveMax - grain * 1e-3,
    );
    const fits = (n: number) =>
      n >= min &&
      n <= max &&
      (step === 0 || Math.abs(n / step - Math.round(n / step)) < 1e-9) &&
      (!whole || Number.isInteger(n));
    const wished = hints.numbers[numbers];
    if (wished !== undefined && fits(wished)) {
      numbers++;
      return wished;
    }
    const low = min === -Infinity ? (max === Infinity ? 1 : max - 40) : min;
    const high = max === Infinity ? low + 40 : max;
    const raw = low + (high - low) * random.next();
    if (step === 0) {
      const rounded = Math.round(raw * 100) / 100;
      return fits(rounded) ? rounded : fits(raw) ? raw : (low + high) / 2;
    }
    const down = Math.floor(raw / step) * step;
    const near = [down, down + step, Math.ceil(low / step) * step, Math.floor(high / step) * step].map((n) =>
      whole ? Math.round(n) : Number(n.toPrecision(12)),
    );
    return near.find(fits) ?? Math.ceil(low);
  }

  function array(s: Json, name: string, depth: number): unknown[] {
    const prefix = list(own(s, 'prefixItems') ?? (Array.isArray(own(s, 'items')) ? own(s, 'items') : undefined));
    const items = Array.isArray(own(s, 'items')) ? own(s, 'additionalItems') : own(s, 'items');
    const min = number(own(s, 'minItems')) ?? 0;
    const max = number(own(s, 'maxItems')) ?? Infinity;
    const wanted = depth > MAX_DEPTH / 2 ? min : Math.max(min, prefix.length || Math.min(max, 2));
    const out: unknown[] = [];
    const unique = own(s, 'uniqueItems') === true;
    for (let tries = 0; out.length < Math.min(wanted, max) && tries < wanted * 8 + 8; tries++) {
      const schemaOfItem = out.length < prefix.length ? prefix[out.length] : items;
      if (schemaOfItem === false) break;
      const value = make(schemaOfItem ?? true, name.replace(/s$/, ''), depth + 1);
      if (unique && out.some((o) => JSON.stringify(o) === JSON.stringify(value))) continue;
      out.push(value);
    }
    return out;
  }

  function record(s: Json, depth: number): Json {
    const out: Json = {};
    const properties = object(own(s, 'properties'));
    const required = list(own(s, 'required')).filter((key): key is string => typeof key === 'string');
    const put = (key: string, value: unknown) =>
      // defineProperty, so that a property called `__proto__` is only a property
      Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true });
    for (const key of Object.keys(properties)) {
      // Deep down only what is required: a schema that refers to itself must come to an end.
      if (depth > 3 && !required.includes(key)) continue;
      const property = own(properties, key);
      if (property === false) continue;
      put(key, make(property, key, depth + 1));
    }
    for (const key of required) {
      if (!Object.hasOwn(out, key)) put(key, make(own(s, 'additionalProperties') ?? true, key, depth + 1));
    }
    const min =
      number(own(s, 'minProperties')) ??
      (Object.keys(properties).length === 0 && isObject(own(s, 'additionalProperties')) ? 1 : 0);
    for (let i = 1; Object.keys(out).length < min && i <= min; i++) {
      put(`key${i}`, make(own(s, 'additionalProperties') ?? true, `key${i}`, depth + 1));
    }
    return out;
  }

  function make(schemaOfValue: unknown, name: string, depth: number): unknown {
    if (!isObject(schemaOfValue)) return nextWord(name);
    let s = schemaOfValue;
    for (let hops = 0; typeof own(s, '$ref') === 'string' && hops < MAX_DEPTH; hops++) {
      const { $ref, ...beside } = s;
      s = { ...object(resolve(string($ref))), ...beside };
    }
    if (Object.hasOwn(s, 'const')) return s['const'];
    const choices = list(own(s, 'enum'));
    if (choices.length > 0) {
      const spoken = choices.find((choice) =>
        hints.words.some((word) => word.toLowerCase() === String(choice).toLowerCase()),
      );
      return spoken ?? choices[random.int(choices.length)];
    }
    if (Array.isArray(own(s, 'allOf'))) {
      const { allOf, ...rest } = s;
      return make(
        list(allOf).reduce<Json>((all, part) => merge(all, expand(part)), rest),
        name,
        depth,
      );
    }
    const variants = list(own(s, 'anyOf') ?? own(s, 'oneOf'));
    if (variants.length > 0) {
      const { anyOf: _any, oneOf: _one, ...rest } = s;
      // The first that is not null; deep down the plainest, so that recursion ends.
      const real = variants.filter((v) => string(own(object(v), 'type')) !== 'null');
      const ends = variants.find((v) => !/"(?:\$ref|properties|items)"/.test(JSON.stringify(v)));
      return make(merge(rest, expand(depth > 4 ? (ends ?? variants[0]) : (real[0] ?? variants[0]))), name, depth);
    }
    const type = own(s, 'type');
    const named: unknown = Array.isArray(type) ? (type.find((t) => t !== 'null') ?? 'null') : type;
    switch (named ?? guess(s)) {
      case 'string':
        return text(s, name);
      case 'integer':
        return numeric(s, true);
      case 'number':
        return numeric(s, false);
      case 'boolean':
        return random.next() < 0.5;
      case 'array':
        return depth > MAX_DEPTH ? [] : array(s, name, depth);
      case 'object':
        return depth > MAX_DEPTH ? {} : record(s, depth);
      case 'null':
        return null;
      default:
        return nextWord(name);
    }
  }

  const expand = (part: unknown): Json => {
    const s = object(part);
    return typeof s['$ref'] === 'string' ? { ...object(resolve(s['$ref'])), ...s, $ref: undefined } : s;
  };

  return make(root, '', 0);
}

function merge(a: Json, b: Json): Json {
  return {
    ...a,
    ...b,
    ...(isObject(a['properties']) || isObject(b['properties'])
      ? { properties: { ...object(a['properties']), ...object(b['properties']) } }
      : {}),
    ...(a['required'] || b['required'] ? { required: [...list(a['required']), ...list(b['required'])] } : {}),
  };
}

function guess(s: Json): string | undefined {
  if (own(s, 'properties') || own(s, 'required')) return 'object';
  if (own(s, 'items') || own(s, 'prefixItems')) return 'array';
  if (own(s, 'minimum') !== undefined || own(s, 'maximum') !== undefined) return 'number';
  return undefined;
}

/** Of one atom of a pattern: it may ask for billions. */
const MOST_TIMES = 1000;

/** A text for the plain patterns that schemas use: classes, literals, `\d`, `\w`, groups of alternatives, counts. */
function fromPattern(pattern: string, random: Random): string | undefined {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
  const source = pattern.replace(/^\^|\$$/g, '');
  let out = '';
  const atoms = source.matchAll(/(\[[^\][]+\]|\\.|\((?:\?:)?([^()]*)\)|[^\\[\]()])(\{(\d+)(?:,(\d*))?\}|[*+?])?/gu);
  for (const [, atom = '', group, count = '', least] of atoms) {
    const times =
      least !== undefined
        ? Math.min(Number(least), MOST_TIMES)
        : count === '+'
          ? 3
          : count === '*' || count === '?'
            ? 0
            : 1;
    for (let i = 0; i < times; i++) {
      if (group !== undefined) {
        const options = group.split('|');
        out += fromPattern(options[random.int(options.length)] ?? '', random) ?? '';
      } else out += oneOf(atom, random);
    }
  }
  return expression.test(out) ? out : undefined;
}

function oneOf(atom: string, random: Random): string {
  if (atom === '.' || atom === '\\w') return random.id(1);
  if (atom === '\\d') return String(random.int(10));
  if (atom === '\\s') return ' ';
  if (atom.startsWith('\\')) return atom.slice(1);
  if (!atom.startsWith('[')) return atom;
  const inside = atom.slice(1, -1).replace(/\\d/g, '0-9').replace(/\\w/g, 'a-z').replace(/\\(.)/g, '$1');
  if (inside.startsWith('^')) return inside.includes('x') ? 'a' : 'x';
  const from = inside.charCodeAt(0);
  const to = inside.charAt(1) === '-' && inside.length > 2 ? inside.charCodeAt(2) : from;
  return String.fromCharCode(from + random.int(to - from + 1));
}
