// This library, out of dist/ or another build of it.
import { Count, once } from './index.mjs';

const METHODS = { responses: 'responses', messages: 'messages', images: 'images' };
const user = [{ role: 'user', content: 'hi' }];
const REQUESTS = {
  responses: { model: 'm', input: 'hi' },
  messages: { model: 'm', max_tokens: 1000, messages: user },
  images: { model: 'm', prompt: 'hi', partial_images: 3 },
};

/** @param read from the library and the kind to an operator and what to do with its values */
const consumer =
  (read, { fetch = false } = {}) =>
  async (kind, dist = process.env.RX_LLM_DIST ?? new URL('../../dist/esm', import.meta.url).pathname) => {
    const rx = await import(`${dist}/index.node.js`);
    const request = REQUESTS[kind] ?? { model: 'm', messages: user };
    const transport = fetch ? { transport: rx.fetchTransport() } : {};
    const clientOf = once((base) => rx.createLlmClient({ baseUrl: base, apiKey: 'x', ...transport }));
    return (base, onText) => {
      const client = clientOf(base);
      const events = client[METHODS[kind] ?? 'chatCompletions'](request);
      const count = new Count(kind, onText);
      const { operator, next } = read(rx, count);
      return new Promise((resolve, reject) => {
        (operator ? events.pipe(operator) : events).subscribe({
          next,
          error: reject,
          complete: () => resolve(count),
        });
      });
    };
  };

const bare = (_, count) => ({ next: (event) => count.event(event) });
const last = (operator, charsOf) => (rx, count) => ({
  operator: operator(rx),
  next(value) {
    count.chars = charsOf(value);
    count.keep = value;
  },
});
const length = (calls) => calls.reduce((sum, call) => sum + call.arguments.length, 0);

export const consumers = {
  'rx-llm': consumer(bare),
  'rx-llm fetch': consumer(bare, { fetch: true }),
  'rx-llm textDeltas': consumer((rx, count) => ({ operator: rx.textDeltas(), next: (piece) => count.text(piece) })),
  'rx-llm accumulateText': consumer(
    last(
      (rx) => rx.accumulateText(),
      (text) => text.length,
    ),
  ),
  'rx-llm accumulateToolCalls': consumer(last((rx) => rx.accumulateToolCalls(), length)),
  'rx-llm partialInput': consumer(last((rx) => rx.accumulateToolCalls({ partialInput: true }), length)),
  'rx-llm accumulateMessage': consumer(
    last(
      (rx) => rx.accumulateMessage(),
      (message) => textOf(message).length,
    ),
  ),
};

/** The text of an answer of any endpoint, as far as it has come. */
function textOf({ choices, content, output }) {
  if (choices) return choices[0]?.message.content ?? '';
  return (content ?? output?.[0]?.content)?.[0]?.text ?? '';
}
