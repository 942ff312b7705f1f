import { Sniffer } from './sniffer.js';

const JSON_TYPE = 'application/json';

/** What is said after each chunk; the same of text and of bytes. */
function answers(contentType: string | undefined, ...chunks: string[]): (boolean | undefined)[] {
  const of = (encode: (text: string) => Uint8Array | string): (boolean | undefined)[] => {
    const sniffer = new Sniffer(contentType);
    return chunks.map((chunk) => sniffer.next(encode(chunk)));
  };
  const asText = of((text) => text);
  expect(of((text) => new TextEncoder().encode(text))).toEqual(asText);
  return asText;
}

describe('a body under text/event-stream, or under no type', () => {
  test.each([undefined, 'text/event-stream', 'text/event-stream; charset=utf-8', ' Text/Event-Stream'])(
    '%s',
    (type) => {
      expect(answers(type, 'data: {}')).toEqual([true]);
      expect(answers(type, 'whatever')).toEqual([true]);
      expect(answers(type, ' \r\n\t', '', ': beat')).toEqual([undefined, undefined, true]);
      // It says by itself that it is none.
      expect(answers(type, '{"error":{}}')).toEqual([false]);
      expect(answers(type, '<html>')).toEqual([false]);
      expect(answers(type, '[{"error":{}}]')).toEqual([false]);
      expect(answers(type, '\n\n', '  {')).toEqual([undefined, false]);
      expect(new Sniffer(type).end()).toBe(true);
    },
  );
});

describe('a body under another type is an event stream if it plainly begins as one', () => {
  test.each([
    ['data', 'data: {}'],
    ['event', 'event: x'],
    ['id', 'id: 7'],
    ['retry', 'retry:5'],
    ['a comment', ': beat'],
    ['a byte order mark before', '\uFEFFdata: {}'],
    ['white space before', ' \r\n\tdata: {}'],
    ['nothing after the colon', 'data:'],
  ])('%s', (_, text) => {
    expect(answers(JSON_TYPE, text)).toEqual([true]);
    expect(answers('x-text/event-stream', text)).toEqual([true]);
  });

  test.each([
    ['a field of no event stream', 'datas: {}'],
    ['a field within another', 'metadata: {}'],
    ['words', 'data is not there'],
    ['words that are cut', 'dat is'],
    ['a long word', 'Lorem-ipsum-dolor-sit'],
    ['JSON', '{"data": 1}'],
    ['a page', '<!doctype html>'],
  ])('not so %s', (_, text) => {
    expect(answers(JSON_TYPE, text)).toEqual([false]);
  });

  test('what is cut is waited for', () => {
    expect(answers(JSON_TYPE, 'd', 'at', 'a', ': {}')).toEqual([undefined, undefined, undefined, true]);
    expect(answers(JSON_TYPE, ' ', '\n', 'e', 'vening')).toEqual([undefined, undefined, undefined, false]);
    expect(answers(JSON_TYPE, 'ev', 'ent', ' of', ' the', ' day')).toEqual([undefined, undefined, false, false, false]);
  });

  test('white space inside is no beginning', () => {
    expect(answers(JSON_TYPE, 'da', ' ta: {}')).toEqual([undefined, false]);
  });

  test('a byte order mark may come byte by byte', () => {
    const sniffer = new Sniffer(JSON_TYPE);
    for (const byte of [0xef, 0xbb, 0xbf]) expect(sniffer.next(Uint8Array.of(byte))).toBeUndefined();
    expect(sniffer.next(new TextEncoder().encode('data:'))).toBe(true);
  });

  test('an end before anything was said is none', () => {
    expect(new Sniffer(JSON_TYPE).end()).toBe(false);
  });
});
