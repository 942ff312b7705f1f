// The floor: what a careful programmer writes without a library.
import { createRequire } from 'node:module';
import { Count, PATHS } from './index.mjs';

// The library's own copies: peers bring other versions along.
const fromLibrary = createRequire(new URL('../../package.json', import.meta.url));
const { createParser } = fromLibrary('eventsource-parser');
const { request } = fromLibrary('undici');

const post = {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
  body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
};

const withParser = (count) => {
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: ({ data }) => count.data(data) });
  return (bytes) => parser.feed(decoder.decode(bytes, { stream: true }));
};

/** Newlines in bytes, each data line decoded alone. Knows no field but `data: `: less than a parser has to do. */
const withScan = (count) => {
  let parts = [];
  const line = (bytes, from, to) => {
    if (bytes[from] === 100 && bytes[from + 4] === 58) count.data(bytes.utf8Slice(from + 6, to));
  };
  return (bytes) => {
    let from = 0;
    for (let to; (to = bytes.indexOf(10, from)) >= 0; from = to + 1) {
      if (parts.length > 0) {
        const whole = Buffer.concat([...parts, bytes.subarray(from, to)]);
        parts = [];
        line(whole, 0, whole.length);
      } else if (to > from) line(bytes, from, to);
    }
    if (from < bytes.length) parts.push(bytes.subarray(from));
  };
};

const overUndici = (read) => (kind) => async (base, onText) => {
  const count = new Count(kind, onText);
  const feed = read(count);
  const { body } = await request(base + PATHS[kind], post);
  await new Promise((resolve, reject) => body.on('data', feed).on('end', resolve).on('error', reject));
  return count;
};

const overFetch = (read) => (kind) => async (base, onText) => {
  const count = new Count(kind, onText);
  const feed = read(count);
  const reader = (await fetch(base + PATHS[kind], post)).body.getReader();
  for (let result; !(result = await reader.read()).done;) feed(result.value);
  return count;
};

export const consumers = {
  'by hand': overUndici(withParser),
  'byte scan': overUndici(withScan),
  'fetch by hand': overFetch(withParser),
};
