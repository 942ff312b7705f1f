// Scripted streams, frame by frame as the services send them.
const WORDS = [
  ...[' the', ' stream', ' of', ' tokens', ' is', ' mapped', ',', ' and'],
  ...[' typed', ' events', '.', '\n', ' "quoted"', ' Observable', ' a', ' café'],
];
const WIDE = [' 漢字', ' 🙂'];
/** One word in 97 is beyond Latin-1. */
const word = (i) => (i % 97 === 96 ? WIDE[((i / 97) | 0) % 2] : WORDS[(i * 7) % 16]);
const PADDING = 'a1B2c3D4e5F6g7H8';

const data = (value) => `data: ${JSON.stringify(value)}\n\n`;
const named = (value) => `event: ${value.type}\n${data(value)}`;

const chunk = (delta, finish_reason = null, usage = null) =>
  data({
    id: 'chatcmpl-CQx8h2Wc0b9kTzN4pYv7uJm3LdRfE',
    object: 'chat.completion.chunk',
    created: 1760000000,
    model: 'gpt-5-mini-2025-08-07',
    service_tier: 'default',
    system_fingerprint: null,
    choices: usage ? [] : [{ index: 0, delta, logprobs: null, finish_reason }],
    usage,
    obfuscation: PADDING.slice(0, 1 + (JSON.stringify(delta).length % 16)),
  });
const chatUsage = {
  prompt_tokens: 12,
  completion_tokens: 20000,
  total_tokens: 20012,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};
const chatTail = (finish) => [chunk({}, finish), chunk({}, null, chatUsage), 'data: [DONE]\n\n'];

const textPart = (text) => ({ type: 'output_text', annotations: [], logprobs: [], text });
const item = (status, text) => ({
  id: 'msg_68e0c1aa77e08190',
  type: 'message',
  status,
  role: 'assistant',
  content: text === undefined ? [] : [textPart(text)],
});
const response = (status, text) => ({
  id: 'resp_68e0c1',
  object: 'response',
  created_at: 1760000000,
  status,
  error: null,
  incomplete_details: null,
  model: 'gpt-5-mini-2025-08-07',
  tools: [],
  metadata: {},
  output: text === undefined ? [] : [item('completed', text)],
  usage:
    text === undefined
      ? null
      : {
          input_tokens: 12,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 20000,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 20012,
        },
});
const at = { item_id: 'msg_68e0c1aa77e08190', output_index: 0, content_index: 0 };

/** The frames of a text answer: `head`, one `delta` for each piece, `tail`. */
export const texts = {
  chat: {
    head: () => [chunk({ role: 'assistant', content: '', refusal: null })],
    delta: (text) => chunk({ content: text }),
    tail: () => chatTail('stop'),
  },
  responses: {
    head: () => [
      named({ type: 'response.created', response: response('in_progress'), sequence_number: 0 }),
      named({ type: 'response.in_progress', response: response('in_progress'), sequence_number: 1 }),
      named({ type: 'response.output_item.added', output_index: 0, item: item('in_progress'), sequence_number: 2 }),
      named({ type: 'response.content_part.added', ...at, part: textPart(''), sequence_number: 3 }),
    ],
    delta: (text, i) =>
      named({
        type: 'response.output_text.delta',
        ...at,
        delta: text,
        logprobs: [],
        obfuscation: PADDING.slice(0, 16 - (text.length % 16)),
        sequence_number: i + 4,
      }),
    tail: (text, n) => [
      named({ type: 'response.output_text.done', ...at, text, logprobs: [], sequence_number: n + 4 }),
      named({ type: 'response.content_part.done', ...at, part: textPart(text), sequence_number: n + 5 }),
      named({
        type: 'response.output_item.done',
        output_index: 0,
        item: item('completed', text),
        sequence_number: n + 6,
      }),
      named({ type: 'response.completed', response: response('completed', text), sequence_number: n + 7 }),
    ],
  },
  messages: {
    head: (block = { type: 'text', text: '' }) => [
      named({
        type: 'message_start',
        message: {
          id: 'msg_01Xq',
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5-20250929',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 },
        },
      }),
      named({ type: 'content_block_start', index: 0, content_block: block }),
      named({ type: 'ping' }),
    ],
    delta: (text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    tail: () => [
      named({ type: 'content_block_stop', index: 0 }),
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 20000 },
      }),
      named({ type: 'message_stop' }),
    ],
  },
};

/** A JSON document of about `length` characters in `n` pieces. */
function jsonPieces(n, length) {
  const lines = [];
  for (let size = 20; size < length - 60; size += lines.at(-1).length + 6)
    lines.push(`line ${lines.length}: let value = "x";`);
  const bare = JSON.stringify({ path: 'src/a.ts', lines });
  const json = `${bare.slice(0, -1)},"pad":"${'z'.repeat(Math.max(0, length - bare.length - 9))}"}`;
  const cut = (i) => Math.floor((i * json.length) / n);
  return Array.from({ length: n }, (_, i) => json.slice(cut(i), cut(i + 1)));
}

const CALLS = 8;
const argumentsChunk = (index, args) => chunk({ tool_calls: [{ index, function: { arguments: args } }] });

/** Whole streams of about `n` deltas (`images`: `n` MiB per frame), and the characters that a reader has to end up with. */
const streams = {
  /** Eight calls at once, their pieces taking turns; 20 characters each. */
  tools(n) {
    const perCall = n / CALLS;
    const pieces = jsonPieces(perCall, perCall * 20);
    const frames = [chunk({ role: 'assistant', content: null, refusal: null })];
    for (let index = 0; index < CALLS; index++) {
      const call = { index, id: `call_${index}Zx81`, type: 'function' };
      frames.push(chunk({ tool_calls: [{ ...call, function: { name: 'write_file', arguments: '' } }] }));
    }
    for (const piece of pieces) for (let index = 0; index < CALLS; index++) frames.push(argumentsChunk(index, piece));
    return { frames: [...frames, ...chatTail('tool_calls')], chars: CALLS * pieces.join('').length };
  },
  /** One structured document, five characters at a time. */
  json(n) {
    const pieces = jsonPieces(n, n * 5);
    const frames = [...texts.chat.head(), ...pieces.map((piece) => texts.chat.delta(piece)), ...chatTail('stop')];
    return { frames, chars: pieces.join('').length };
  },
  /** One call's arguments, 20 characters at a time. */
  call(n) {
    const pieces = jsonPieces(n, n * 20);
    const call = { index: 0, id: 'call_0Zx81', type: 'function', function: { name: 'write_file', arguments: '' } };
    const frames = [
      chunk({ role: 'assistant', tool_calls: [call] }),
      ...pieces.map((piece) => argumentsChunk(0, piece)),
    ];
    return { frames: [...frames, ...chatTail('tool_calls')], chars: pieces.join('').length };
  },
  images(n) {
    const b64_json = 'iVBORw0KGgo'.padEnd(n << 20, 'QUJDREVGR0g');
    const about = { created_at: 1760000000, size: '1024x1024', quality: 'high', output_format: 'png' };
    const partial = (i) =>
      named({ type: 'image_generation.partial_image', partial_image_index: i, b64_json, ...about });
    const usage = { input_tokens: 12, output_tokens: 4160, total_tokens: 4172 };
    const frames = [0, 1, 2, 3].map(partial);
    frames.push(named({ type: 'image_generation.completed', b64_json, ...about, usage }));
    return { frames, chars: 5 * b64_json.length };
  },
};

export function streamOf(kind, n) {
  if (streams[kind]) return streams[kind](n);
  const { head, delta, tail } = texts[kind];
  const frames = head();
  let text = '';
  for (let i = 0; i < n; i++) {
    const piece = word(i);
    text += piece;
    frames.push(delta(piece, i));
  }
  for (const frame of tail(text, n)) frames.push(frame);
  return { frames, chars: text.length };
}
