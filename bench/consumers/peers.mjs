// The vendors' SDKs and others, used the way their own documentation shows for streaming.
import { Count, once } from './index.mjs';

const user = [{ role: 'user', content: 'hi' }];
const parameters = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    lines: { type: 'array', items: { type: 'string' } },
    pad: { type: 'string' },
  },
  required: ['path', 'lines', 'pad'],
  additionalProperties: false,
};
const tools = (kind, strict = false) =>
  kind === 'tools' || kind === 'call'
    ? { tools: [{ type: 'function', function: { name: 'write_file', parameters, strict } }] }
    : {};

const OPENAI = {
  responses: (client) => client.responses.create({ model: 'm', input: 'hi', stream: true }),
  images: (client) => client.images.generate({ model: 'm', prompt: 'hi', stream: true, partial_images: 3 }),
};
const CHAT = (client, kind) =>
  client.chat.completions.create({ model: 'm', messages: user, stream: true, ...tools(kind) });

async function openAi() {
  const { default: OpenAI } = await import('openai');
  return once((base) => new OpenAI({ apiKey: 'x', baseURL: base, maxRetries: 0 }));
}

/** The helper that accumulates. */
const openAiStream =
  ({ strict = false, document = false } = {}) =>
  async (kind) => {
    const client = await openAi();
    const schema = { name: 'document', strict: true, schema: parameters };
    const extra = document ? { response_format: { type: 'json_schema', json_schema: schema, $brand: 'x' } } : {};
    return async (base, onText) => {
      const count = new Count(kind, onText);
      const body = { model: 'm', messages: user, ...tools(kind, strict), ...extra };
      const stream = client(base).chat.completions.stream(body);
      for await (const event of stream) count.event(event);
      count.keep = await stream.finalChatCompletion();
      return count;
    };
  };

async function anthropic() {
  const { default: Anthropic } = await import('@anthropic-ai/sdk');
  return once((base) => new Anthropic({ apiKey: 'x', baseURL: base, maxRetries: 0 }));
}
const MESSAGES = { model: 'm', max_tokens: 1000, messages: user };

const aiSdk = (make) => async (kind) => {
  const { jsonSchema, Output, streamText, tool } = await import('ai');
  const modelOf = once(await make(kind));
  const extra =
    kind === 'json'
      ? { output: Output.object({ schema: jsonSchema(parameters) }) }
      : tools(kind).tools
        ? { tools: { write_file: tool({ inputSchema: jsonSchema(parameters) }) } }
        : {};
  return async (base, onText) => {
    const count = new Count(kind, onText);
    let failure;
    const result = streamText({
      model: modelOf(base),
      prompt: 'hi',
      maxRetries: 0,
      onError: ({ error }) => (failure = error),
      ...extra,
    });
    if (kind === 'json') {
      let whole;
      for await (const partial of result.partialOutputStream) whole = partial;
      count.chars = JSON.stringify(whole).length;
    } else {
      for await (const part of result.fullStream) {
        const piece = part.type === 'text-delta' ? part.text : part.type === 'tool-input-delta' ? part.delta : '';
        if (piece) count.text(piece);
      }
    }
    if (failure) throw failure;
    count.keep = result;
    return count;
  };
};

export const consumers = {
  openai: async (kind) => {
    const client = await openAi();
    return async (base, onText) => {
      const count = new Count(kind, onText);
      for await (const event of await (OPENAI[kind] ?? CHAT)(client(base), kind)) count.event(event);
      return count;
    };
  },
  'openai .stream()': openAiStream(),
  'openai .stream() strict': openAiStream({ strict: true }),
  '@anthropic-ai/sdk': async (kind) => {
    const client = await anthropic();
    return async (base, onText) => {
      const count = new Count(kind, onText);
      for await (const event of await client(base).messages.create({ ...MESSAGES, stream: true })) count.event(event);
      return count;
    };
  },
  '@anthropic-ai/sdk .stream()': async (kind) => {
    const client = await anthropic();
    return async (base, onText) => {
      const count = new Count(kind, onText);
      const stream = client(base).messages.stream(MESSAGES);
      for await (const event of stream) count.event(event);
      count.keep = await stream.finalMessage();
      return count;
    };
  },
  'ai + @ai-sdk/openai': aiSdk(async (kind) => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return (base) => createOpenAI({ baseURL: base, apiKey: 'x' })[kind === 'responses' ? 'responses' : 'chat']('m');
  }),
  'ai + @ai-sdk/openai-compatible': aiSdk(async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const options = { apiKey: 'x', name: 'local', includeUsage: true, supportsStructuredOutputs: true };
    return (base) => createOpenAICompatible({ baseURL: base, ...options }).chatModel('m');
  }),
  'ai + @ai-sdk/anthropic': aiSdk(async () => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return (base) => createAnthropic({ baseURL: base, apiKey: 'x' })('m');
  }),
  '@langchain/openai': async (kind) => {
    const { ChatOpenAI } = await import('@langchain/openai');
    return async (base, onText) => {
      const count = new Count(kind, onText);
      const plain = new ChatOpenAI({
        model: 'gpt-5-mini',
        apiKey: 'x',
        maxRetries: 0,
        configuration: { baseURL: base },
      });
      const model = tools(kind).tools ? plain.bindTools(tools(kind).tools) : plain;
      for await (const message of await model.stream('hi')) {
        const piece = tools(kind).tools ? message.tool_call_chunks?.[0]?.args : message.content;
        if (piece) count.text(piece);
      }
      return count;
    };
  },
};
