import fc from 'fast-check';
import { chatUsage } from './endpoints/chat-completions/usage.js';
import { imagesUsage } from './endpoints/images/usage.js';
import { messagesUsage } from './endpoints/messages/usage.js';
import { responsesUsage } from './endpoints/responses/usage.js';
import { mergeUsage, normalizeUsage, UsageTally, type Usage } from './usage.js';

function counts(raw: object): Omit<Usage, 'raw'> | undefined {
  const usage = normalizeUsage(raw);
  if (!usage) return undefined;
  const { raw: _, ...rest } = usage;
  return rest;
}

function tallied(...reports: object[]): Omit<Usage, 'raw'> | undefined {
  const tally = new UsageTally();
  for (const report of reports) tally.report(report);
  if (!tally.value) return undefined;
  const { raw: _, ...rest } = tally.value;
  return rest;
}

describe('normalizeUsage', () => {
  it('reads the names of chat', () => {
    const usage = counts({
      prompt_tokens: 14,
      completion_tokens: 8,
      total_tokens: 22,
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 5 },
    });
    expect(usage).toStrictEqual({
      inputTokens: 14,
      outputTokens: 8,
      totalTokens: 22,
      cachedInputTokens: 3,
      cacheWriteTokens: 2,
      reasoningTokens: 5,
    });
  });

  it('reads the names of Responses, and does not add its cached tokens to the input', () => {
    const usage = counts({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 4 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 8 },
      total_tokens: 120,
    });
    expect(usage).toStrictEqual({
      inputTokens: 100,
      outputTokens: 20,
      totalTokens: 120,
      cachedInputTokens: 60,
      cacheWriteTokens: 4,
      reasoningTokens: 8,
    });
  });

  it('adds the three parts of the input on Messages, and computes the total', () => {
    const usage = counts({
      input_tokens: 10,
      cache_read_input_tokens: 500,
      cache_creation_input_tokens: 40,
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 3 },
    });
    expect(usage).toStrictEqual({
      inputTokens: 550,
      outputTokens: 7,
      totalTokens: 557,
      cachedInputTokens: 500,
      cacheWriteTokens: 40,
      reasoningTokens: 3,
    });
  });

  it('leaves out what was never reported, and keeps what was reported as 0', () => {
    expect(counts({ completion_tokens: 0 })).toStrictEqual({ outputTokens: 0 });
    expect(counts({ total_tokens: 9 })).toStrictEqual({ totalTokens: 9 });
    expect(counts({ input_tokens: 0, output_tokens: 0 })).toStrictEqual({
      inputTokens: 0,
      outputTokens: 0,
      totalTokens: 0,
    });
  });

  it('is nothing where no token count is a number', () => {
    for (const raw of [
      {},
      { prompt_tokens: null },
      { total_time: 0.1 },
      { dram_cached_tokens: 5 },
      { prompt_tokens: 'x' },
    ])
      expect(normalizeUsage(raw)).toBeUndefined();
  });

  it.each([
    ['DeepSeek', { prompt_cache_hit_tokens: 6, prompt_cache_miss_tokens: 4 }],
    ['Mistral', { num_cached_tokens: 6 }],
    ["Mistral's misspelt details", { prompt_token_details: { cached_tokens: 6 } }],
    ['Moonshot', { cached_tokens: 6 }],
    ['a chat gateway before Anthropic', { cache_read_input_tokens: 6 }],
  ])('finds the cached tokens of %s', (_, extra) => {
    expect(counts({ prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, ...extra })).toMatchObject({
      inputTokens: 10,
      cachedInputTokens: 6,
    });
  });

  it.each([
    ['a number', { cost: 0.25 }],
    ['text', { cost: '0.25' }],
    ['an object with a total', { cost: { input_tokens_cost: 0.05, total_cost: 0.25 } }],
    ["a gateway's own field", { cost_usd: 0.25 }],
    ["xAI's ticks", { cost_in_usd_ticks: 2_500_000_000 }],
  ])('reads a cost that is %s', (_, extra) => {
    expect(counts({ total_tokens: 1, ...extra })?.costUsd).toBe(0.25);
  });

  it.each([{ cost: '' }, { cost: 'free' }, { cost: null }, { cost_in_usd_ticks: null }, { cost: NaN }, { cost: {} }])(
    'reads no cost from %j',
    (extra) => {
      expect(counts({ total_tokens: 1, ...extra })).not.toHaveProperty('costUsd');
    },
  );

  it('adds reasoning to the output when the total says that it was left out', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 30 } };
    expect(counts({ prompt_tokens: 5, completion_tokens: 10, total_tokens: 45, ...details })?.outputTokens).toBe(40);
    expect(counts({ prompt_tokens: 5, completion_tokens: 40, total_tokens: 45, ...details })?.outputTokens).toBe(40);
    expect(counts({ prompt_tokens: 5, completion_tokens: 40, total_tokens: 99, ...details })?.outputTokens).toBe(40);
  });

  it("adds Perplexity's reasoning, which stands beside the output", () => {
    expect(counts({ prompt_tokens: 33, completion_tokens: 7, total_tokens: 40, reasoning_tokens: 70 })).toStrictEqual({
      inputTokens: 33,
      outputTokens: 77,
      totalTokens: 40,
      reasoningTokens: 70,
    });
  });

  it('adds cached input to the input when there is more of it', () => {
    const raw = { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 100 } };
    expect(counts(raw)?.inputTokens).toBe(105);
  });
});

describe('UsageTally', () => {
  it('keeps the last value of each field and adds nothing up', () => {
    expect(
      tallied(
        { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
        { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, completion_tokens_details: { reasoning_tokens: 1 } },
        { completion_tokens: 3, total_tokens: 8, completion_tokens_details: { audio_tokens: 9 } },
      ),
    ).toStrictEqual({ inputTokens: 5, outputTokens: 3, totalTokens: 8, reasoningTokens: 1 });
  });

  it('lets neither null nor 0 nor another type erase a number', () => {
    const first = { input_tokens: 9, output_tokens: 4 };
    for (const later of [{ input_tokens: null }, { input_tokens: 0 }, { input_tokens: 'x' }, {}])
      expect(tallied(first, { output_tokens: 5, ...later })).toMatchObject({ inputTokens: 9, outputTokens: 5 });
  });

  it('lets a 0 stand that comes with other input: all of it was cached', () => {
    const start = { input_tokens: 900, output_tokens: 1 };
    expect(tallied(start, { input_tokens: 0, cache_read_input_tokens: 900, output_tokens: 5 })).toMatchObject({
      inputTokens: 900,
      cachedInputTokens: 900,
    });
    expect(tallied(start, { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 })).toMatchObject({
      inputTokens: 900,
      outputTokens: 1,
    });
  });

  it("does not believe a gateway's total that is older than the counts", () => {
    const start = { input_tokens: 10, output_tokens: 1, total_tokens: 11 };
    expect(tallied(start, { output_tokens: 20 })?.totalTokens).toBe(30);
  });

  it('is undefined until a token count comes, and the same object until the next report', () => {
    const tally = new UsageTally();
    tally.report({ cost_usd: 0.5 });
    expect(tally.value).toBeUndefined();
    tally.report({ total_tokens: 1 });
    const { value } = tally;
    expect(value).toEqual({ totalTokens: 1, costUsd: 0.5, raw: { cost_usd: 0.5, total_tokens: 1 } });
    expect(tally.value).toBe(value);
    tally.report({ total_tokens: 2 });
    expect(value?.raw).toEqual({ cost_usd: 0.5, total_tokens: 1 });
    expect(tally.value?.totalTokens).toBe(2);
  });

  it('keeps the details of earlier reports, and takes lists as they are', () => {
    const tally = new UsageTally();
    tally.report({ total_tokens: 1, prompt_tokens_details: { cached_tokens: 4, deep: { a: 1 } }, iterations: [1, 2] });
    tally.report({ prompt_tokens_details: { cached_tokens: null, text_tokens: 2, deep: { b: 1 } }, iterations: [3] });
    expect(tally.value?.raw).toEqual({
      total_tokens: 1,
      prompt_tokens_details: { cached_tokens: 4, text_tokens: 2, deep: { b: 1 } },
      iterations: [3],
    });
  });

  it('believes a total that is more than the counts', () => {
    expect(tallied({ input_tokens: 5, output_tokens: 1, total_tokens: 9 })?.totalTokens).toBe(9);
  });

  it('does not touch the objects that it is given', () => {
    const first = Object.freeze({ total_tokens: 1, prompt_tokens_details: Object.freeze({ cached_tokens: 1 }) });
    const second = Object.freeze({ total_tokens: 2, prompt_tokens_details: Object.freeze({ cached_tokens: 2 }) });
    expect(tallied(first, second)?.cachedInputTokens).toBe(2);
  });

  it('is not harmed by names of the prototype', () => {
    const tally = new UsageTally();
    const hostile = '{"total_tokens":1,"__proto__":{"prompt_tokens":7},"constructor":{"a":1},"toString":0}';
    tally.report(JSON.parse(hostile) as object);
    tally.report(JSON.parse(hostile) as object);
    expect(tally.value).toMatchObject({ totalTokens: 1 });
    expect(tally.value).not.toHaveProperty('inputTokens');
    expect(Object.getPrototypeOf(tally.value?.raw)).toBe(Object.prototype);
    const merged = mergeUsage({}, { ...(JSON.parse(hostile) as object), cost: null, is_byok: undefined });
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(Object.keys(merged)).toEqual(['total_tokens']);
  });

  it('throws at nothing, and gives finite numbers only', () => {
    const json = fc.object({
      key: fc.constantFrom(
        'prompt_tokens',
        'input_tokens',
        'output_tokens',
        'total_tokens',
        'cost',
        'prompt_tokens_details',
        'x',
      ),
      values: [fc.double(), fc.string(), fc.constant(null), fc.boolean(), fc.array(fc.integer())],
      maxDepth: 2,
    });
    fc.assert(
      fc.property(fc.array(json, { maxLength: 4 }), (reports) => {
        for (const count of Object.values(tallied(...reports) ?? {})) expect(Number.isFinite(count)).toBe(true);
      }),
    );
  });
});

describe('where the endpoints report usage', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2 };

  it('chat: on the chunk, under x_groq, or in the choice, with the cost beside it', () => {
    expect(chatUsage({ choices: [], usage })).toBe(usage);
    expect(chatUsage({ choices: [], usage: null, x_groq: { id: 'x', usage } })).toBe(usage);
    expect(chatUsage({ choices: [{ index: 0, delta: {}, usage }], usage: {} })).toBe(usage);
    expect(chatUsage({ usage, cost_usd: 0.1 })).toEqual({ ...usage, cost_usd: 0.1 });
    expect(chatUsage({ usage, cost_usd: null })).toBe(usage);
    expect(chatUsage({ cost_usd: 0.1 })).toEqual({ cost_usd: 0.1 });
  });

  it('chat: not where nothing is counted', () => {
    for (const chunk of [
      {},
      { usage: null },
      { usage: {} },
      { usage: 5, choices: 'x', x_groq: 'y' },
      { x_groq: { usage: { dram_cached_tokens: 5 } }, choices: [null] },
    ])
      expect(chatUsage(chunk)).toBeUndefined();
  });

  it('responses: on the response object', () => {
    expect(responsesUsage({ type: 'response.completed', response: { usage, cost_usd: '0.1' } })).toEqual({
      ...usage,
      cost_usd: '0.1',
    });
    expect(responsesUsage({ type: 'response.created', response: { usage: null } })).toBeUndefined();
    expect(responsesUsage({ type: 'response.output_text.delta', delta: 'x' })).toBeUndefined();
  });

  it('messages: on the start and on deltas of the message', () => {
    const input = { input_tokens: 5 };
    expect(messagesUsage({ type: 'message_start', message: { usage: input } })).toBe(input);
    expect(messagesUsage({ type: 'message_delta', delta: {}, usage: { output_tokens: 2 } })).toEqual({
      output_tokens: 2,
    });
    expect(messagesUsage({ type: 'message_delta', delta: {}, usage: null })).toBeUndefined();
    expect(messagesUsage({ type: 'ping' })).toBeUndefined();
  });

  it('images: on the finished image', () => {
    expect(imagesUsage({ type: 'image_generation.completed', b64_json: 'QQ==', usage })).toBe(usage);
    expect(imagesUsage({ type: 'image_generation.partial_image', b64_json: 'QQ==' })).toBeUndefined();
  });
});
