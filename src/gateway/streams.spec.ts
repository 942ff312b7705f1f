import { startGateway, type Dialect, type Gateway } from './index.js';
import { at, call, chat, eventsOf, image, jsonOf, message, respond } from '../spec/support/gateway-client.js';

let gateway: Gateway;
beforeAll(async () => void (gateway = await startGateway()));
afterAll(() => gateway.close());

const text = async (path: string, body: unknown, dialect: Dialect) =>
  (await call(gateway.url, path, { body, headers: { 'x-gateway-dialect': dialect } })).text;
/** Runs of one name are told once. */
const runs = (names: readonly unknown[]) => names.filter((name, i) => name !== names[i - 1]);
const weather = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

describe('Chat Completions of gateway A', () => {
  const SAY = 'Say "Hello 👋🏽 there"';

  it('is made of the chunks that its documentation prints', async () => {
    const chunks = jsonOf(
      await text('/v1/chat/completions', chat(SAY, { stream_options: { include_usage: true } }), 'a'),
    );
    const told = chunks.map(({ choices, usage }) => ({
      choices,
      ...(usage ? { usage: Object.keys(usage).slice(0, 3) } : {}),
    }));
    expect(told).toEqual([
      { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
      { choices: [{ index: 0, delta: { content: 'Hello' } }] },
      { choices: [{ index: 0, delta: { content: ' 👋🏽' } }] },
      { choices: [{ index: 0, delta: { content: ' there' } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: ['prompt_tokens', 'completion_tokens', 'total_tokens'] },
    ]);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks[0]?.['id']).toMatch(/^gen-/);
  });

  it('keeps one choice with an empty delta beside the usage unless `include_usage` was asked for', async () => {
    const last = jsonOf(await text('/v1/chat/completions', chat(SAY), 'a')).at(-1);
    expect(last?.['choices']).toEqual([{ index: 0, delta: {} }]);
    expect(last?.['usage']).toMatchObject({ completion_tokens: 3 });
  });

  it('begins with a comment and ends with [DONE]', async () => {
    const body = await text('/v1/chat/completions', chat(SAY), 'a');
    expect(body).toMatch(/^: GATEWAY PROCESSING\n\ndata: /);
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(body).not.toMatch(/^event:/m);
  });

  it('puts the cost in the usage, and it adds up', async () => {
    const usage = jsonOf(await text('/v1/chat/completions', chat('Tell me about tea'), 'a')).at(-1)?.['usage'];
    const [input, output] = [at(usage, 'prompt_tokens') as number, at(usage, 'completion_tokens') as number];
    expect(at(usage, 'total_tokens')).toBe(input + output);
    expect(at(usage, 'cost')).toBeCloseTo((input * 0.3 + output * 1.2) / 1e6, 8);
  });
});

describe('Chat Completions of gateway B', () => {
  it('carries id, object and choices until the last chunk, which is the receipt', async () => {
    const chunks = jsonOf(await text('/v1/chat/completions', chat('Say "The capital"', { model: 'ninja/auto' }), 'b'));
    const id = chunks[0]?.['id'];
    expect(id).toMatch(/^chatcmpl_req_/);
    expect(chunks.slice(0, -1)).toEqual([
      {
        id,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
      },
      { id, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'The' }, finish_reason: null }] },
      {
        id,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { content: ' capita' }, finish_reason: null }],
      },
      { id, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'l' }, finish_reason: null }] },
    ]);
    const requestId = String(id).slice('chatcmpl_'.length);
    expect(chunks.at(-1)).toEqual({
      id,
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model: 'gpt-5.6-luna',
      resolved_model: 'gpt-5.6-luna',
      provider: 'openai',
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: 3,
        total_tokens: expect.any(Number),
        prompt_tokens_details: { cached_tokens: 0, cache_creation_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      cost_usd: expect.any(Number),
      request_id: requestId,
      routing: {
        strategy: 'balanced',
        requested_models: ['ninja/auto'],
        resolved_model: 'gpt-5.6-luna',
        provider: 'openai',
        fallbacks_allowed: true,
        data_policy: 'default',
      },
    });
  });
});

describe('Chat Completions of both', () => {
  it.each(['a', 'b'] as const)('%s interleaves its choices and finishes each', async (dialect) => {
    const chunks = jsonOf(await text('/v1/chat/completions', chat('Tell me about rivers', { n: 2 }), dialect));
    const indexes = chunks.map((chunk) => at(chunk, 'choices', 0, 'index'));
    expect(indexes.slice(0, 6)).toEqual([0, 1, 0, 1, 0, 1]);
    expect(chunks.flatMap((chunk) => at(chunk, 'choices', 0, 'finish_reason') ?? [])).toEqual(['stop', 'stop']);
    const usage = chunks.at(-1)?.['usage'];
    expect(at(usage, 'completion_tokens')).toBe(gateway.journal.at(-1)?.tokensDelivered);
  });

  it('thinks before it speaks, in the gateway’s own field', async () => {
    const body = chat('Why is the sky blue?', { reasoning_effort: 'low' });
    const a = jsonOf(await text('/v1/chat/completions', body, 'a')).map((chunk) => at(chunk, 'choices', 0, 'delta'));
    const b = jsonOf(await text('/v1/chat/completions', body, 'b')).map((chunk) => at(chunk, 'choices', 0, 'delta'));
    const thoughts = a.map((delta) => at(delta, 'reasoning') ?? '').join('');
    expect(thoughts).not.toBe('');
    expect(a.map((delta) => at(delta, 'reasoning_details', 0, 'text') ?? '').join('')).toBe(thoughts);
    expect(b.map((delta) => at(delta, 'reasoning_content') ?? '').join('')).toBe(thoughts);
  });

  it('numbers parallel calls and gives each an id and whole arguments', async () => {
    const tools = [{ type: 'function', function: { name: 'get_weather', parameters: weather } }];
    const body = chat('What is the weather in Paris and in Oslo?', { tools });
    const deltas = jsonOf(await text('/v1/chat/completions', body, 'b')).flatMap(
      (chunk) => (at(chunk, 'choices', 0, 'delta', 'tool_calls') ?? []) as unknown[],
    );
    const starts = deltas.filter((call) => at(call, 'id') !== undefined);
    expect(starts.map((call) => [at(call, 'index'), at(call, 'type'), at(call, 'function', 'name')])).toEqual([
      [0, 'function', 'get_weather'],
      [1, 'function', 'get_weather'],
    ]);
    const args = [0, 1].map((i) =>
      deltas
        .filter((call) => at(call, 'index') === i)
        .map((call) => at(call, 'function', 'arguments'))
        .join(''),
    );
    expect(args.map((one) => JSON.parse(one) as unknown)).toEqual([{ city: 'Paris' }, { city: 'Oslo' }]);
  });
});

describe('Responses', () => {
  const names = (body: string) => eventsOf(body).map(({ name }) => name);

  it.each([
    ['a', ['response.created', 'response.in_progress']],
    ['b', ['response.created']],
  ] as const)('of %s send text in the documented order', async (dialect, opening) => {
    const body = await text('/v1/responses', respond('Say "The capital"'), dialect);
    expect(runs(names(body))).toEqual([
      ...opening,
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const events = jsonOf(body);
    expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, i) => i));
    expect(events.map((event) => event['type'])).toEqual(names(body));
    expect(body).not.toContain('[DONE]');
  });

  it('of b print a delta as the documentation does', async () => {
    const body = await text('/v1/responses', respond('Say "The capital"'), 'b');
    const delta = body.split('\n').find((line) => line.includes('output_text.delta') && line.startsWith('data'));
    expect(delta).toMatch(
      /^data: \{"type":"response\.output_text\.delta","item_id":"msg_req_\w+","output_index":0,"content_index":0,"delta":"The","sequence_number":3\}$/,
    );
  });

  it('of b end with text, usage, cost and routing in the final response', async () => {
    const final = jsonOf(await text('/v1/responses', respond('Say "The capital"', { model: 'ninja/auto' }), 'b')).at(
      -1,
    );
    expect(at(final, 'response')).toMatchObject({
      status: 'completed',
      model: 'gpt-5.6-luna',
      output_text: 'The capital',
      provider: 'openai',
      cost_usd: expect.any(Number),
      request_id: expect.stringMatching(/^req_/),
      routing: { requested_models: ['ninja/auto'], resolved_model: 'gpt-5.6-luna' },
      usage: { output_tokens: 3 },
    });
  });

  it('of a name their raw reasoning as documented, and a summary as OpenAI does', async () => {
    const raw = await text('/v1/responses', respond('Why?', { reasoning: { effort: 'low' } }), 'a');
    expect(names(raw)).toContain('response.reasoning.delta');
    expect(names(raw)).toContain('response.reasoning.done');
    const summary = await text(
      '/v1/responses',
      respond('Why?', { reasoning: { effort: 'low', summary: 'auto' } }),
      'a',
    );
    expect(names(summary)).toContain('response.reasoning_summary_text.delta');
  });

  it.each([
    ['a', ['response.function_call_arguments.done', 'response.output_item.done']],
    ['b', ['response.output_item.done', 'response.function_call_arguments.done']],
  ] as const)('of %s end a call in their own order', async (dialect, ending) => {
    const tools = [{ type: 'function', name: 'get_weather', parameters: weather }];
    const body = await text('/v1/responses', respond('Weather in Paris?', { tools }), dialect);
    expect(runs(names(body)).slice(-5)).toEqual([
      'response.output_item.added',
      'response.function_call_arguments.delta',
      ...ending,
      'response.completed',
    ]);
  });

  it('say that they stopped early', async () => {
    const final = jsonOf(await text('/v1/responses', respond('Write a long story', { max_output_tokens: 9 }), 'a')).at(
      -1,
    );
    expect(final).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        usage: { output_tokens: 9 },
      },
    });
  });
});

describe('Messages', () => {
  it('open with the input tokens, stream block after block, and close', async () => {
    const tools = [{ name: 'get_weather', input_schema: weather }];
    const body = message('Weather in Paris?', {
      tools,
      max_tokens: 2000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    });
    const events = jsonOf(await text('/v1/messages', body, 'a'));
    expect(runs(events.map(({ type }) => type))).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(at(events[0], 'message', 'usage', 'input_tokens')).toBeGreaterThan(5);
    expect(runs(events.flatMap((event) => at(event, 'delta', 'type') ?? []))).toEqual([
      'thinking_delta',
      'signature_delta',
      'input_json_delta',
    ]);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use', stop_sequence: null } });
    expect(at(events.at(-2), 'usage', 'output_tokens')).toBe(gateway.journal.at(-1)?.tokensDelivered);
  });

  it('name the stop sequence they met', async () => {
    const body = message('Say "one two END three"', { stop_sequences: ['three', 'END'] });
    expect(jsonOf(await text('/v1/messages', body, 'a')).at(-2)).toMatchObject({
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    });
  });

  it('write what is marked to the cache and read it from there the next time', async () => {
    const system = [{ type: 'text', text: 'Long instructions. '.repeat(40), cache_control: { type: 'ephemeral' } }];
    const usages = [];
    for (const content of ['First?', 'Second?']) {
      const [start] = jsonOf(await text('/v1/messages', message(content, { system }), 'a'));
      usages.push(at(start, 'message', 'usage'));
    }
    expect(usages[0]).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: expect.any(Number) });
    expect(at(usages[1], 'cache_read_input_tokens')).toBe(at(usages[0], 'cache_creation_input_tokens'));
    expect(at(usages[1], 'cache_read_input_tokens')).toBeGreaterThan(100);
  });
});

describe('Images', () => {
  it('of a show partial frames, then the picture and usage, then [DONE]', async () => {
    const body = await text('/v1/images', image('A teapot', { partial_images: 2 }), 'a');
    expect(eventsOf(body).map(({ name, data }) => name ?? data)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
      '[DONE]',
    ]);
    const events = jsonOf(body);
    expect(events.map((event) => event['partial_image_index'])).toEqual([0, 1, undefined]);
    expect(events.at(-1)).toMatchObject({
      size: '48x32',
      output_format: 'png',
      usage: { total_tokens: expect.any(Number) },
    });
  });

  it('of b, which documents none, end as OpenAI’s do', async () => {
    const body = await text('/v1/images/generations', image('A teapot', { n: 2 }), 'b');
    expect(eventsOf(body).map(({ name }) => name)).toEqual([
      'image_generation.completed',
      'image_generation.completed',
    ]);
  });
});

describe('every endpoint', () => {
  it.each([
    ['/v1/chat/completions', chat('Tell me about tea')],
    ['/v1/responses', respond('Tell me about tea')],
    ['/v1/messages', message('Tell me about tea')],
    ['/v1/images', image('Tea')],
  ])('%s answers the same request with the same content, and another seed with another', async (path, body) => {
    const other = await startGateway({ seed: 'other' });
    const clean = (reply: string) => reply.replace(/(?:gen-\d+-|req_)\w+|"(?:created|completed)\w*":\d+/g, '');
    const [first, second, third] = [
      await text(path, body, 'a'),
      await text(path, body, 'a'),
      (await call(other.url, path, { body })).text,
    ].map(clean);
    await other.close();
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('gives the same words on all text endpoints', async () => {
    const streams = await Promise.all([
      text('/v1/chat/completions', chat('Tell me about tea'), 'a'),
      text('/v1/responses', respond('Tell me about tea'), 'b'),
      text('/v1/messages', message('Tell me about tea'), 'a'),
    ]);
    const words = streams.map((one) =>
      jsonOf(one)
        .map(
          (event) =>
            at(event, 'choices', 0, 'delta', 'content') ??
            at(event, 'delta', 'text') ??
            (event['type'] === 'response.output_text.delta' ? event['delta'] : ''),
        )
        .join(''),
    );
    expect(words[0]).toMatch(/tea/i);
    expect(words[1]).toBe(words[0]);
    expect(words[2]).toBe(words[0]);
  });
});
