import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseServerSentEvents, type ServerSentEvent } from 'rx-llm';
import { from } from 'rxjs';
import { DATA, randomWrites, seeded } from '../spec/support/cases.js';
import { FrameLimitError, FrameReader } from './frame-reader.js';

interface FramingCase {
  readonly name: string;
  readonly bytes: string;
  readonly chunks?: readonly number[];
  readonly expected: readonly { readonly event: string | null; readonly data: string; readonly id: string | null }[];
}

const cases = JSON.parse(readFileSync(join(DATA, 'sse-cases.json'), 'utf8')) as FramingCase[];

function cut<T extends Uint8Array | string>(whole: T, sizes: readonly number[]): T[] {
  const parts: T[] = [];
  let at = 0;
  for (const size of [...sizes, whole.length]) {
    if (at < whole.length) parts.push(whole.slice(at, at + size) as T);
    at += size;
  }
  return parts;
}

function read(parts: readonly (Uint8Array | string)[]): { event: string | null; data: string; id: string | null }[] {
  const events: ServerSentEvent[] = [];
  from(parts)
    .pipe(parseServerSentEvents())
    .subscribe((event) => events.push(event));
  return events.map(({ type = null, data = '', id = null }) => ({ event: type, data, id }));
}

describe('the cases of the standard and of other parsers', () => {
  test.each(cases.map((given) => [given.name, given] as const))('%s', (_, { bytes, chunks = [], expected }) => {
    const body = Buffer.from(bytes, 'base64');
    const wanted = [...expected.map((event) => ({ ...event, event: event.event || null }))];
    const withIds = (list: typeof wanted): unknown[] => list.map((event) => ({ event: event.event, data: event.data }));
    for (const parts of [
      cut(body, chunks),
      [body],
      cut(body, Array<number>(body.length).fill(1)),
      cut(body, randomWrites(body.length, seeded(body.length), 9)),
    ]) {
      expect(withIds(read(parts))).toEqual(withIds(wanted));
      expect(withIds(read(parts.map((part) => new Uint8Array(part))))).toEqual(withIds(wanted));
    }
  });
});

const line = fc.oneof(
  fc.constantFrom('data: {"a":"é😀"}', 'data:x', 'data', ': c', 'event: e', 'id: 7', 'retry: 5', '', '', 'nonsense'),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const ending = fc.constantFrom('\n', '\r\n', '\r');
const streams = fc.array(fc.tuple(line, ending), { maxLength: 40 }).map((lines) => lines.flat().join(''));

test('any chunking of the same bytes gives the same events', () => {
  fc.assert(
    fc.property(streams, fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 80 }), (text, sizes) => {
      const bytes = Buffer.from(text);
      const whole = read([bytes]);
      expect(read(cut(bytes, sizes))).toEqual(whole);
      expect(read(cut(new Uint8Array(bytes), sizes))).toEqual(whole);
      expect(read(cut(bytes.toString(), sizes))).toEqual(whole);
    }),
    { numRuns: 500 },
  );
});

test('so does any chunking of long ones, which are read in pieces', () => {
  const events = fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 30 });
  const sizes = fc.array(fc.integer({ min: 1, max: 9000 }), { maxLength: 6 });
  fc.assert(
    fc.property(events, sizes, fc.constantFrom('\n', '\r\n', '\r'), (lengths, cuts, end) => {
      const data = lengths.map((length, i) => `${i}${'é'.repeat(length)}`);
      const bytes = Buffer.from(data.map((text) => `event: e${end}data: ${text}${end}${end}`).join(''));
      for (const whole of [bytes, new Uint8Array(bytes)]) {
        expect(read(cut(whole, cuts)).map((event) => event.data)).toEqual(data);
      }
    }),
    { numRuns: 300 },
  );
});

test('an event is delivered as soon as its blank line is there, whatever ends the lines', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    for (const encode of [(text: string) => text, (text: string) => Buffer.from(text)]) {
      const seen: string[] = [];
      const reader = new FrameReader({ onEvent: ({ data }) => seen.push(data) });
      reader.push(encode(`data: a${end}${end}`));
      expect(seen).toEqual(['a']);
      reader.push(encode(`data: b${end}${end}da`));
      expect(seen).toEqual(['a', 'b']);
      reader.push(encode(`ta: c${end}${end}`));
      expect(seen).toEqual(['a', 'b', 'c']);
    }
  }
});

test('text and bytes may take turns, wherever the stream is cut', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const whole = `data: a${end}data: b${end}${end}data: c${end}${end}`;
    for (let at = 1; at < whole.length; at++) {
      const [head, tail] = [whole.slice(0, at), whole.slice(at)];
      for (const parts of [
        [head, Buffer.from(tail)],
        [Buffer.from(head), tail],
      ]) {
        expect(read(parts).map((event) => event.data)).toEqual(['a\nb', 'c']);
      }
    }
  }
});

test('a byte order mark counts as one at the very beginning alone', () => {
  for (const end of ['\n', '\r']) {
    const parts = [
      `\uFEFFdata: a${end}${end}`,
      `data: \uFEFFb${end}${end}`,
      `\uFEFFdata: c${end}${end}`,
      `data: d${end}${end}`,
    ];
    for (const of of [
      parts,
      parts.map((part) => Buffer.from(part)),
      parts.map((part) => new TextEncoder().encode(part)),
    ]) {
      expect(read(of).map((event) => event.data)).toEqual(['a', '\uFEFFb', 'd']);
    }
  }
});

test('a character that the end has cut is replaced', () => {
  for (const end of ['\n', '\r\n']) {
    const bytes = Buffer.from(`data: a${end}data: é`).subarray(0, -1);
    const seen: string[] = [];
    const reader = new FrameReader({ onEvent: ({ data }) => seen.push(data) });
    reader.push(bytes);
    reader.end();
    expect(seen).toEqual(['a\n\uFFFD']);
  }
});

test('whoever stops the reader hears no more of the chunk at hand, nor of any other', () => {
  const seen: string[] = [];
  const reader = new FrameReader({
    onEvent({ data }) {
      seen.push(data);
      reader.stop();
    },
    onComment: (comment) => seen.push(comment),
    onRetry: (ms) => seen.push(String(ms)),
  });
  reader.push(Buffer.from('data: a\n\ndata: b\n\n: comment\nretry: 5\n\nda'));
  reader.push(Buffer.from('ta: c\n\n'));
  reader.push('data: d\n\n');
  reader.end();
  expect(seen).toEqual(['a']);
});

describe('a clean end without a blank line', () => {
  test.each([
    ['data: {"a":1}', ['{"a":1}']],
    ['data: {"a":1}\n', ['{"a":1}']],
    ['data: {"a":1}\r', ['{"a":1}']],
    ['data: [DONE]', ['[DONE]']],
    ['data: {"a":', []],
    ['data: 5', []],
    ['data: [DO', []],
    ['data: {"a":1}\nda', ['{"a":1}']],
  ])('%j', (text, data) => {
    expect(read([text]).map((event) => event.data)).toEqual(data);
    expect(read([Buffer.from(text)]).map((event) => event.data)).toEqual(data);
  });
});

describe('the limit', () => {
  const reader = (max: number): FrameReader => new FrameReader({ onEvent: () => undefined }, max);

  test('counts bytes, not characters', () => {
    const frame = (text: string): Uint8Array => Buffer.from(`data: ${text}\n\n`);
    expect(() => {
      reader(30).push(frame('é'.repeat(14)));
    }).not.toThrow();
    expect(() => {
      reader(30).push(frame('é'.repeat(16)));
    }).toThrow(FrameLimitError);
    expect(() => {
      reader(30).push(frame('é'.repeat(16)).toString());
    }).toThrow(FrameLimitError);
    expect(() => {
      reader(64).push(frame('😀'.repeat(15)));
    }).not.toThrow();
    expect(() => {
      reader(64).push(frame('😀'.repeat(17)));
    }).toThrow(FrameLimitError);
  });

  test.each([
    ['data lines', 'data: xxxxxxxx\n'],
    ['unknown fields', 'other: xxxxxx\n'],
    ['a line without end', 'xxxxxxxxxx'],
  ])('stops an event that grows by %s', (_, piece) => {
    for (const encode of [
      (text: string) => text,
      (text: string) => Buffer.from(text),
      (text: string) => new TextEncoder().encode(text),
    ]) {
      const growing = reader(1000);
      let pushed = 0;
      expect(() => {
        for (; pushed < 5000; pushed += piece.length) growing.push(encode(piece));
      }).toThrow(FrameLimitError);
      expect(pushed).toBeLessThan(1200);
    }
  });

  test('is what an event may have, and one byte more is too much', () => {
    const whole = `event: e\ndata: ${'x'.repeat(35)}\n`;
    for (const size of [whole.length, 1, 20]) {
      const push = (max: number): void => {
        const limited = reader(max);
        for (const part of cut(Buffer.from(whole), Array<number>(60).fill(size))) limited.push(part);
      };
      expect(() => {
        push(whole.length);
      }).not.toThrow();
      expect(() => {
        push(whole.length - 1);
      }).toThrow(new FrameLimitError(whole.length - 1));
    }
    expect(new FrameLimitError(5).message).toContain('5 bytes');
  });

  test('is counted anew for each event', () => {
    const limited = reader(40);
    for (let i = 0; i < 10; i++) for (const part of ['data: xxxxx', 'xxxxxx\n', '\n']) limited.push(Buffer.from(part));
  });

  test('lets comments and blank lines flow for ever', () => {
    for (const piece of [': beat\n\n', ': beat\n', '\n', '\r\n']) {
      const idle = reader(100);
      for (let i = 0; i < 1000; i++) idle.push(Buffer.from(piece));
    }
  });
});

test('a large line in small reads takes linear time', () => {
  const seconds = (mebibytes: number): number => {
    const part = Buffer.alloc(4096, 'x');
    let length = 0;
    const begun = process.cpuUsage();
    const reader = new FrameReader({ onEvent: ({ data }) => (length = data.length) });
    reader.push(Buffer.from('data: '));
    for (let i = 0; i < mebibytes * 256; i++) reader.push(part);
    reader.push(Buffer.from('\n\n'));
    expect(length).toBe(mebibytes * 1024 * 1024);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1e6;
  };
  seconds(2);
  const [small, large] = [seconds(4), seconds(32)];
  expect(large).toBeLessThan(8 * 4 * Math.max(small, 0.01));
});
