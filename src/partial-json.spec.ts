import fc from 'fast-check';
import { PartialJson } from './partial-json.js';

/** What is shown after each piece. */
function shown(...pieces: string[]): unknown[] {
  const json = new PartialJson();
  return pieces.map((piece) => {
    json.push(piece);
    return json.value();
  });
}

function final(text: string, cuts: readonly number[] = []): { whole: boolean; value: unknown } {
  const json = new PartialJson();
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const place of [...places, text.length]) {
    json.push(text.slice(from, place));
    json.value();
    from = place;
  }
  return { whole: json.end(), value: json.value() };
}

function parsed(text: string): { whole: boolean; value?: unknown } {
  try {
    return { whole: true, value: JSON.parse(text) };
  } catch {
    return { whole: false };
  }
}

const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe('PartialJson', () => {
  it('ends at the value that JSON.parse gives, however the text is cut', () => {
    const anyJson = fc.oneof(
      fc.json(),
      fc.json({ stringUnit: 'binary' }),
      fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.stringify(value, null, 2)),
      fc.string({ unit: 'binary' }).map((text) => `"${escapeAll(text)}"`),
    );
    fc.assert(
      fc.property(anyJson, cuts, (text, at) => {
        expect(final(text, at)).toEqual({ whole: true, value: JSON.parse(text) });
      }),
      { numRuns: 500 },
    );
  });

  it('accepts what JSON.parse accepts, and nothing else', () => {
    const nearJson = fc.string({
      unit: fc.constantFrom(
        ...Array.from('{}[],:"\\/ \n\t\r0123456789.-+eEutrfalsnx\u0000\u00a0é'),
        ...['true', 'null', '"a":', '\\u00e9'],
      ),
      maxLength: 12,
    });
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', ']', '0', '-', ' ', '\\', 'e'))
      .map(([text, at, put]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + put + text.slice(place + 1);
      });
    fc.assert(
      fc.property(fc.oneof(nearJson, broken), cuts, (text, at) => {
        const { whole, value } = final(text, at);
        const expected = parsed(text);
        expect(whole).toBe(expected.whole);
        if (whole) expect(value).toEqual(expected.value);
      }),
      { numRuns: 3000 },
    );
  });

  it('never changes a value that it has shown', () => {
    fc.assert(
      fc.property(fc.json(), cuts, (text, at) => {
        const json = new PartialJson();
        const values: unknown[] = [];
        const copies: unknown[] = [];
        const places = [...new Set(at.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
        let from = 0;
        for (const place of [...places, text.length]) {
          json.push(text.slice(from, place));
          from = place;
          values.push(json.value());
          copies.push(structuredClone(values.at(-1)));
        }
        expect(values).toEqual(copies);
      }),
    );
  });

  it('shows a string as it grows', () => {
    expect(shown('"', 'Hel', 'lo', '"')).toEqual(['', 'Hel', 'Hello', 'Hello']);
  });

  it('shows a key when its value begins', () => {
    expect(shown('{', '"ci', 'ty"', ':', '"', 'Oban"', '}')).toEqual([
      {},
      {},
      {},
      {},
      { city: '' },
      { city: 'Oban' },
      { city: 'Oban' },
    ]);
  });

  it('shows numbers and words once they are whole', () => {
    expect(shown('[1', '2', ',tr', 'ue', ',-0.5e', '1', ']')).toEqual([
      [],
      [],
      [12],
      [12, true],
      [12, true],
      [12, true],
      [12, true, -5],
    ]);
    expect(final('12')).toEqual({ whole: true, value: 12 });
  });

  it('holds back an escape and half a surrogate pair until they are whole', () => {
    expect(shown('"a\\', 'n', '\\u00', 'e9', '\\ud83d', '\\udc4b', '\ud83d', '\ude00"')).toEqual([
      'a',
      'a\n',
      'a\n',
      'a\né',
      'a\né',
      'a\né👋',
      'a\né👋',
      'a\né👋😀',
    ]);
  });

  it('keeps half a surrogate pair that stays alone, as JSON.parse does', () => {
    expect(final('["\\ud83d", "\\ud83dx", "\\udc4b"]', [4, 9, 12])).toEqual({
      whole: true,
      value: ['\ud83d', '\ud83dx', '\udc4b'],
    });
  });

  it('shows nothing before there is a value', () => {
    expect(shown('', ' \n', '12')).toEqual([undefined, undefined, undefined]);
  });

  it('keeps the identity of what did not change', () => {
    const [before, after, closed, padded] = shown('{"a":{"b":[1,2]},"c":["x', 'y', '"]', '} ') as {
      a: { b: number[] };
      c: string[];
    }[];
    expect(after).not.toBe(before);
    expect(after!.a).toBe(before!.a);
    expect(after!.c).not.toBe(before!.c);
    expect(closed!.c).toBe(after!.c);
    expect(padded).toBe(closed);
  });

  it('stops growing at what is not JSON', () => {
    expect(shown('{"a":1,"b":"x', ' y", oops', '"c":2}')).toEqual([
      { a: 1, b: 'x' },
      { a: 1, b: 'x y' },
      { a: 1, b: 'x y' },
    ]);
  });

  it('takes the last of equal keys, at the place of the first', () => {
    const text = '{"a":1,"b":2,"a":{"c":3}}';
    expect(JSON.stringify(final(text, [18, 20]).value)).toBe('{"a":{"c":3},"b":2}');
  });

  it('reads the names of Object.prototype as keys like others', () => {
    const text = '{"__proto__":{"admin":true},"constructor":1,"toString":"x"}';
    for (const value of [final(text, [20, 30, 50]).value, shown(text.slice(0, 20), text.slice(20, 25)).at(-1)]) {
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect((value as { admin?: unknown }).admin).toBeUndefined();
      expect(Object.hasOwn(value as object, '__proto__')).toBe(true);
    }
    expect(final(text).value).toEqual(JSON.parse(text));
  });

  it('reads 200,000 levels without recursion', () => {
    const json = new PartialJson();
    for (let i = 0; i < 200; i++) {
      json.push('['.repeat(1000));
      json.value();
    }
    json.push(']'.repeat(200_000));
    expect(json.end()).toBe(true);
  });

  it('copies no more of large containers than the text pays for', () => {
    const json = new PartialJson();
    const seen = new Set<unknown>();
    let copied = 0;
    json.push('[');
    for (let i = 0; i < 20_000; i++) {
      json.push(`${i},`);
      const value = json.value() as unknown[];
      if (!seen.has(value)) copied += value.length;
      seen.add(value);
      expect(value.length).toBeGreaterThan(i - 512 - i / 8);
    }
    // Copied each time it would be 200 million.
    expect(copied).toBeLessThan(2_000_000);
    json.push('0]');
    expect(json.end()).toBe(true);
    expect((json.value() as unknown[]).length).toBe(20_001);
  });
});

function escapeAll(text: string): string {
  let escaped = '';
  for (let i = 0; i < text.length; i++) escaped += `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return escaped;
}
