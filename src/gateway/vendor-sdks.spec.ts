import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import {
  createLlmClient,
  finalImages,
  finalUsage,
  finishReason,
  partialImages,
  refusalDeltas,
  textDeltas,
  toolCalls,
  type ChatCompletionChunk,
  type LlmClient,
  type MessageStreamEvent,
  type ResponseStreamEvent,
} from 'rx-llm';
import { EMPTY, lastValueFrom, share, toArray, type Observable } from 'rxjs';
import { startGateway, type Dialect, type Gateway } from './index.js';

/** What any reader makes of an answer. */
interface Reading {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly usage: readonly [input: number | undefined, output: number | undefined];
  readonly finish: string | null | undefined;
}

const weather = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer', minimum: 1, maximum: 7 },
    unit: { enum: ['C', 'F'] },
  },
  required: ['city', 'unit'],
  additionalProperties: false,
};
const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    tags: { type: 'array', items: { enum: ['green', 'black'] } },
    origin: { $ref: '#/$defs/place' },
  },
  required: ['name', 'tags', 'origin'],
  additionalProperties: false,
  $defs: {
    place: {
      type: 'object',
      properties: { country: { type: 'string' }, altitude: { type: 'number' } },
      required: ['country', 'altitude'],
    },
  },
};
const IN_PARALLEL = 'What is the weather in Paris and in Oslo?';

type ChatBody = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model' | 'stream'>;
type ResponseBody = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'model' | 'stream'>;
type MessageBody = Omit<Anthropic.MessageCreateParamsNonStreaming, 'model' | 'stream'>;

const chatTools: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'get_weather', parameters: weather } },
  { type: 'function', function: { name: 'now' } },
];
const CHAT: Record<string, ChatBody> = {
  text: { messages: [{ role: 'user', content: 'Tell me about green tea' }] },
  'text in Japanese': { messages: [{ role: 'user', content: '緑茶について教えてください' }] },
  reasoning: { messages: [{ role: 'user', content: 'Why is the sky blue?' }], reasoning_effort: 'high' },
  'parallel tools': { messages: [{ role: 'user', content: IN_PARALLEL }], tools: chatTools },
  'a tool without parameters': {
    messages: [{ role: 'user', content: 'What time is it now?' }],
    tools: chatTools,
    tool_choice: { type: 'function', function: { name: 'now' } },
  },
  'an answer after a tool': {
    messages: [
      { role: 'user', content: 'Weather in Paris?' },
      {
        role: 'assistant',
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"Paris","unit":"C"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '{"temperature":21,"sky":"clear ☀️"}' },
    ],
    tools: chatTools,
  },
  'structured output': {
    messages: [{ role: 'user', content: 'Describe Sencha' }],
    response_format: { type: 'json_schema', json_schema: { name: 'tea', strict: true, schema: SCHEMA } },
  },
  'a cut answer': { messages: [{ role: 'user', content: 'Write a long story' }], max_completion_tokens: 7 },
  'a stop sequence': { messages: [{ role: 'user', content: 'Say "one 二 END three"' }], stop: ['END'] },
  'a refusal': { messages: [{ role: 'user', content: 'Please refuse this' }] },
};
const responseTools: OpenAI.Responses.Tool[] = [
  { type: 'function', name: 'get_weather', parameters: weather, strict: false },
  { type: 'function', name: 'now', parameters: null, strict: false },
];
const RESPONSES: Record<string, ResponseBody> = {
  text: { input: 'Tell me about green tea' },
  'raw reasoning': { input: 'Why is the sky blue?', reasoning: { effort: 'low' } },
  'summarised reasoning': { input: 'Why is the sky blue?', reasoning: { effort: 'medium', summary: 'auto' } },
  'parallel tools': { input: IN_PARALLEL, tools: responseTools },
  'an answer after a tool': {
    input: [
      { role: 'user', content: 'Weather in Paris?' },
      { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '{"temperature":21}' },
    ],
    tools: responseTools,
  },
  'a custom tool': { input: 'Run it', tools: [{ type: 'custom', name: 'shell' }] },
  'structured output': {
    input: 'Describe Sencha',
    text: { format: { type: 'json_schema', name: 'tea', schema: SCHEMA } },
  },
  'a cut answer': { input: 'Write a long story', max_output_tokens: 7 },
  'a refusal': { input: 'Please refuse this' },
};
const messageTools: Anthropic.Tool[] = [
  { name: 'get_weather', input_schema: { ...weather, type: 'object' } },
  { name: 'now', input_schema: { type: 'object' } },
];
const MESSAGES: Record<string, MessageBody> = {
  text: { max_tokens: 4096, messages: [{ role: 'user', content: 'Tell me about green tea' }] },
  thinking: {
    max_tokens: 4096,
    messages: [{ role: 'user', content: 'Why is the sky blue?' }],
    thinking: { type: 'enabled', budget_tokens: 1024 },
  },
  'parallel tools': { max_tokens: 4096, messages: [{ role: 'user', content: IN_PARALLEL }], tools: messageTools },
  'a tool without parameters': {
    max_tokens: 4096,
    messages: [{ role: 'user', content: 'Now?' }],
    tools: messageTools,
    tool_choice: { type: 'tool', name: 'now' },
  },
  'an answer after a tool': {
    max_tokens: 4096,
    messages: [
      { role: 'user', content: 'Weather in Paris?' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '21 degrees ☀️' }] },
    ],
    tools: messageTools,
  },
  'structured output': {
    max_tokens: 4096,
    messages: [{ role: 'user', content: 'Describe Sencha' }],
    output_config: { format: { type: 'json_schema', schema: SCHEMA } },
  },
  'a cut answer': { max_tokens: 7, messages: [{ role: 'user', content: 'Write a long story' }] },
  'a stop sequence': {
    max_tokens: 4096,
    messages: [{ role: 'user', content: 'Say "one 二 END three"' }],
    stop_sequences: ['END'],
  },
  'a refusal': { max_tokens: 4096, messages: [{ role: 'user', content: 'Please refuse this' }] },
};
const model = 'vendor/leaf-1';

describe.each(['a', 'b'] satisfies Dialect[])('the vendors’ SDKs read dialect %s', (dialect) => {
  let gateway: Gateway;
  let openai: OpenAI;
  let anthropic: Anthropic;
  let client: LlmClient;
  beforeAll(async () => {
    gateway = await startGateway({ dialect });
    client = createLlmClient({ baseUrl: gateway.url, apiKey: 'test' });
    openai = new OpenAI({ baseURL: gateway.url, apiKey: 'test', maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: gateway.url.replace('/v1', ''), apiKey: 'test', maxRetries: 0 });
  });
  afterAll(() => gateway.close());

  const ofCompletion = ({ choices: [choice], usage }: OpenAI.ChatCompletion): Reading => ({
    text: choice?.message.content ?? choice?.message.refusal ?? '',
    calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [{ name: call.function.name, arguments: call.function.arguments }] : [],
    ),
    usage: [usage?.prompt_tokens, usage?.completion_tokens],
    finish: choice?.finish_reason,
  });

  it.each(Object.entries(CHAT))('on Chat Completions: %s', async (_, body) => {
    const whole = ofCompletion(await openai.chat.completions.create({ model, ...body }));
    const helper = ofCompletion(
      await openai.chat.completions
        .stream({ model, ...body, stream_options: { include_usage: true } })
        .finalChatCompletion(),
    );
    let text = '';
    let finish: string | null = null;
    const calls: { name: string; arguments: string }[] = [];
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of await openai.chat.completions.create({ model, ...body, stream: true })) {
      usage = chunk.usage ?? usage;
      const choice = chunk.choices[0];
      text += choice?.delta.content ?? choice?.delta.refusal ?? '';
      finish = choice?.finish_reason ?? finish;
      for (const { index, function: fn } of choice?.delta.tool_calls ?? []) {
        const call = (calls[index] ??= { name: fn?.name ?? '', arguments: '' });
        call.arguments += fn?.arguments ?? '';
      }
    }
    expect(helper).toEqual(whole);
    expect({ text, calls, usage: [usage?.prompt_tokens, usage?.completion_tokens], finish }).toEqual(whole);
    expect(whole.text !== '' || whole.calls.length > 0).toBe(true);
    expect(await read(client.chatCompletions({ model, ...body }), (all$) => all$.pipe(refusalDeltas()))).toEqual(whole);
  });

  it('on Chat Completions: several choices', async () => {
    const body = { model, n: 3, messages: [{ role: 'user' as const, content: 'Tell me about rivers' }] };
    const whole = await openai.chat.completions.create(body);
    const streamed = await openai.chat.completions.stream(body).finalChatCompletion();
    expect(streamed.choices.map((choice) => choice.message.content)).toEqual(
      whole.choices.map((choice) => choice.message.content),
    );
    expect(new Set(whole.choices.map((choice) => choice.message.content)).size).toBe(3);
  });

  const ofResponse = (response: OpenAI.Responses.Response): Reading => ({
    text: response.output
      .flatMap((item) =>
        item.type === 'message' ? item.content.map((part) => (part.type === 'refusal' ? part.refusal : part.text)) : [],
      )
      .join(''),
    calls: response.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ name: item.name, arguments: item.arguments }]
        : item.type === 'custom_tool_call'
          ? [{ name: item.name, arguments: item.input }]
          : [],
    ),
    usage: [response.usage?.input_tokens, response.usage?.output_tokens],
    finish: response.incomplete_details?.reason ?? response.status,
  });

  it.each(Object.entries(RESPONSES))('on Responses: %s', async (_, body) => {
    const whole = await openai.responses.create({ model, ...body });
    const helper = await openai.responses.stream({ model, ...body }).finalResponse();
    let text = '';
    let last = -1;
    let final: OpenAI.Responses.Response | undefined;
    for await (const event of await openai.responses.create({ model, ...body, stream: true })) {
      expect(event.sequence_number).toBe(last + 1);
      last = event.sequence_number;
      if (event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta') text += event.delta;
      if (event.type === 'response.completed' || event.type === 'response.incomplete') final = event.response;
    }
    expect(ofResponse(helper)).toEqual(ofResponse(whole));
    expect(final && ofResponse(final)).toEqual(ofResponse(whole));
    expect(text).toBe(ofResponse(whole).text);
    expect(helper.output_text).toBe(whole.output_text);
    const { finish: _finish, ...expected } = ofResponse(whole);
    expect(await read(client.responses({ model, ...body }), (all$) => all$.pipe(refusalDeltas()))).toMatchObject(
      expected,
    );
    expect(helper.output.map((item) => item.type)).toEqual(whole.output.map((item) => item.type));
  });

  it('on Responses: a conversation by its last response’s id', async () => {
    const first = await openai.responses.create({
      model,
      input: 'What is the weather in Paris?',
      tools: responseTools,
    });
    const [call] = first.output;
    if (call?.type !== 'function_call') throw new Error('no call');
    const second = await openai.responses
      .stream({
        model,
        previous_response_id: first.id,
        input: [{ type: 'function_call_output', call_id: call.call_id, output: '{"temperature":21}' }],
      })
      .finalResponse();
    expect(second.output_text).toContain('get_weather says temperature 21');
  });

  const ofMessage = (message: Anthropic.Message): Reading => ({
    text: message.content
      .map((block) => (block.type === 'text' ? block.text : block.type === 'thinking' ? `<${block.thinking}>` : ''))
      .join(''),
    calls: message.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ name: block.name, arguments: JSON.stringify(block.input) }] : [],
    ),
    usage: [message.usage.input_tokens, message.usage.output_tokens],
    finish: message.stop_reason,
  });

  it.each(Object.entries(MESSAGES))('on Messages: %s', async (_, body) => {
    const whole = await anthropic.messages.create({ model, ...body });
    const helper = await anthropic.messages.stream({ model, ...body }).finalMessage();
    let text = '';
    let output: number | undefined;
    for await (const event of await anthropic.messages.create({ model, ...body, stream: true })) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
      if (event.type === 'message_delta') output = event.usage.output_tokens;
    }
    expect(ofMessage(helper)).toEqual(ofMessage(whole));
    expect(
      whole.content.some((block) => block.type === 'text')
        ? whole.content.map((b) => (b.type === 'text' ? b.text : '')).join('')
        : '',
    ).toBe(text);
    expect(output).toBe(whole.usage.output_tokens);
    expect(await read(client.messages({ model, ...body }))).toEqual({ ...ofMessage(whole), text });
  });

  it('on Images: partial frames and the picture', async () => {
    const body = { model: 'vendor/painter', prompt: 'A teapot in the rain', size: '64x64' as never };
    const whole = await openai.images.generate({ ...body });
    const seen: string[] = [];
    let final = '';
    for await (const event of await openai.images.generate({ ...body, stream: true, partial_images: 3 })) {
      seen.push(event.type);
      if (event.type === 'image_generation.completed') {
        final = event.b64_json;
        expect(event.usage.total_tokens).toBe(event.usage.input_tokens + event.usage.output_tokens);
      }
    }
    expect(seen).toEqual([...Array<string>(3).fill('image_generation.partial_image'), 'image_generation.completed']);
    expect(final).toBe(whole.data?.[0]?.b64_json);
    const images$ = client.images({ ...body, partial_images: 3 }).pipe(share());
    const [partial, finished] = await Promise.all([
      lastValueFrom(images$.pipe(partialImages(), toArray())),
      lastValueFrom(images$.pipe(finalImages(), toArray())),
    ]);
    expect(partial).toHaveLength(3);
    expect(finished.map((image) => image.b64)).toEqual([final]);
  });

  it('on Images: an edit', async () => {
    const image = new File([new Uint8Array([1, 2, 3])], 'in.png', { type: 'image/png' });
    const edited = await openai.images.edit({
      model: 'vendor/painter',
      image,
      prompt: 'Make it blue',
      size: '32x32',
    });
    expect(
      Buffer.from(edited.data?.[0]?.b64_json ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  it('and see refusals of requests as errors of their own kind', async () => {
    const bad = { model, messages: [] };
    await expect(openai.chat.completions.create(bad)).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(anthropic.messages.create({ ...bad, max_tokens: 5 })).rejects.toBeInstanceOf(
      Anthropic.BadRequestError,
    );
    await expect(openai.chat.completions.create(bad, { headers: { Authorization: null } })).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
  });

  it('and see error frames as errors', async () => {
    const headers = { 'x-gateway-fault': 'error; after=2' };
    const chat = await openai.chat.completions.create(
      { model, messages: [{ role: 'user', content: 'Hi' }], stream: true },
      { headers },
    );
    await expect(drain(chat)).rejects.toBeInstanceOf(OpenAI.APIError);
    const messages = await anthropic.messages.create(
      { model, max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }], stream: true },
      { headers },
    );
    await expect(drain(messages)).rejects.toBeInstanceOf(Anthropic.APIError);
  });

  it('and list the models', async () => {
    const ids = (await openai.models.list()).data.map((one) => one.id);
    expect(ids.length).toBeGreaterThan(2);
    expect((await openai.models.retrieve(ids[0] ?? '')).id).toBe(ids[0]);
    expect((await anthropic.models.list()).data.map((one) => one.id)).toEqual(ids);
  });
});

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** What rx-llm makes of an answer; a refusal stands for the text, as it does in the readings above. */
async function read<E extends ChatCompletionChunk | ResponseStreamEvent | MessageStreamEvent>(
  events$: Observable<E>,
  refusals: (events$: Observable<E>) => Observable<string> = () => EMPTY,
): Promise<Reading> {
  const shared$ = events$.pipe(share());
  const [text, refusal, calls, usage, finish] = await Promise.all([
    lastValueFrom(shared$.pipe(textDeltas(), toArray())),
    lastValueFrom(refusals(shared$).pipe(toArray())),
    lastValueFrom(shared$.pipe(toolCalls(), toArray())),
    lastValueFrom(shared$.pipe(finalUsage())),
    lastValueFrom(shared$.pipe(finishReason())),
  ]);
  return {
    text: [...text, ...refusal].join(''),
    calls: calls.map((call) => ({ name: call.name, arguments: call.arguments || '{}' })),
    usage: [usage.inputTokens, usage.outputTokens],
    finish: finish.raw,
  };
}
