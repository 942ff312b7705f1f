// Every consumer: `make(kind) → async (base, onText?) → { chars, keep }`. `chars` is what the reader ended up with,
// `onText` gets each piece of text as it comes, `keep` is what a program would hold at the end.
export async function makeConsumer(name, kind, dist) {
  for (const file of ['by-hand', 'rx-llm', 'peers']) {
    const { consumers } = await import(`./${file}.mjs`);
    if (Object.hasOwn(consumers, name)) return consumers[name](kind, dist);
  }
  throw new Error(`no consumer ${name}`);
}

export const PATHS = {
  chat: '/chat/completions',
  tools: '/chat/completions',
  call: '/chat/completions',
  json: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  images: '/images',
};

/** A program makes its client once, and not for each stream. */
export function once(make) {
  const made = new Map();
  return (base) => made.get(base) ?? made.set(base, make(base)).get(base);
}

/** What a program takes from an event of the wire. */
const pieceOf = {
  chat: (event) => event.choices[0]?.delta?.content,
  tools: (event) => event.choices[0]?.delta?.tool_calls?.[0]?.function?.arguments,
  responses: (event) => (event.type === 'response.output_text.delta' ? event.delta : undefined),
  messages: (event) => (event.type === 'content_block_delta' ? event.delta.text : undefined),
  images: (event) => event.b64_json,
};
pieceOf.json = pieceOf.chat;
pieceOf.call = pieceOf.tools;

/** Counts what comes; the same for all. */
export class Count {
  chars = 0;
  constructor(kind, onText) {
    this.pieceOf = pieceOf[kind];
    this.onText = onText;
  }
  data(text) {
    if (text !== '[DONE]') this.event(JSON.parse(text));
  }
  event(event) {
    const piece = this.pieceOf(event);
    if (piece) this.text(piece);
  }
  text(piece) {
    this.chars += piece.length;
    this.onText?.(piece);
  }
}
