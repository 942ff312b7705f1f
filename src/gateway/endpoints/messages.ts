import { countTokens } from '../content/tokens.js';
import { isObject, list, object, own, string, type Json } from '../json.js';
import type { PromptCache } from '../memory.js';
import { wordsOf } from '../problems.js';
import {
  bad,
  comment,
  event,
  type Answer,
  type Ask,
  type Frame,
  type Plan,
  type Problem,
  type Rendering,
} from '../protocol.js';
import {
  contentSeed,
  inputTokens,
  NOTHING_ASKED,
  range,
  requireModel,
  requireStream,
  stops,
  textOf,
  wholeNumber,
} from './asking.js';

/** Reads a Messages request, or refuses it as the gateways do. */
export function readMessages(body: Json, seed: string, cache: PromptCache): Ask {
  const model = requireModel(body);
  const stream = requireStream(body);
  const maxTokens = wholeNumber(body, 'max_tokens');
  if (maxTokens === undefined) bad('max_tokens', 'max_tokens: Field required');
  const messages = own(body, 'messages');
  if (!Array.isArray(messages) || messages.length === 0) bad('messages', 'messages: at least one message is required');
  const called = new Map<string, string>();
  let prompt = '';
  let turns = 0;
  let toolResults: { name: string; text: string }[] = [];
  (messages as unknown[]).forEach((entry, i) => {
    const message = isObject(entry) ? entry : bad(`messages.${i}`, `messages.${i}: Input should be an object`);
    const role = message['role'];
    if (role !== 'user' && role !== 'assistant' && role !== 'system')
      bad(`messages.${i}.role`, `messages.${i}.role: Input should be 'user' or 'assistant'`);
    if (i === 0 && role === 'assistant') bad('messages.0.role', "messages: first message must use the 'user' role");
    const content = message['content'];
    if (typeof content !== 'string' && !Array.isArray(content))
      bad(`messages.${i}.content`, `messages.${i}.content: Input should be a string or a list of blocks`);
    const blocks = list(content).map(object);
    for (const block of blocks)
      if (block['type'] === 'tool_use') called.set(string(block['id']), string(block['name']));
    if (role !== 'user') return;
    const results = blocks.filter((block) => block['type'] === 'tool_result');
    if (results.length === 0) toolResults = [];
    if (results.length === 0) turns++;
    for (const result of results) {
      const name = called.get(string(result['tool_use_id']));
      if (name === undefined) {
        bad(
          `messages.${i}.content`,
          `messages.${i}.content: tool_result '${string(result['tool_use_id'])}' has no tool_use in an earlier message`,
        );
      }
      toolResults.push({ name: name ?? '', text: textOf(result['content']) });
    }
    const said = textOf(typeof content === 'string' ? content : blocks.filter((block) => block['type'] === 'text'));
    if (said !== '') prompt = said;
  });
  range(body, 'temperature', 0, 1);
  range(body, 'top_p', 0, 1);

  const specs = list(own(body, 'tools')).flatMap((tool, i) => {
    const { type, name, input_schema: schema } = object(tool);
    if (type !== undefined && type !== null && type !== 'custom') return []; // a tool that a server would run
    if (!/^[\w-]{1,128}$/.test(string(name)))
      bad(`tools.${i}.name`, `tools.${i}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (!isObject(schema)) bad(`tools.${i}.input_schema`, `tools.${i}.input_schema: Field required`);
    return [{ name: string(name), custom: false, schema }];
  });
  const choice = object(own(body, 'tool_choice'));
  const toolChoice = messagesToolChoice(
    choice,
    specs.map((spec) => spec.name),
  );
  const thinking = object(own(body, 'thinking'));
  const budget = wholeNumber(thinking, 'budget_tokens');
  const thinks = thinking['type'] === 'enabled' || thinking['type'] === 'adaptive';
  if (thinking['type'] === 'enabled' && (budget === undefined || budget < 1024)) {
    bad('thinking.budget_tokens', 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  }
  if (thinks && budget !== undefined && budget >= (maxTokens ?? 0))
    bad('max_tokens', '`max_tokens` must be greater than `thinking.budget_tokens`');
  const effort =
    string(object(own(body, 'output_config'))['effort']) ||
    (budget === undefined ? 'medium' : budget < 4000 ? 'low' : budget < 16000 ? 'medium' : 'high');
  const format = object(object(own(body, 'output_config'))['format'] ?? own(body, 'output_format'));

  const input = inputTokens(messages as unknown[], systemText(own(body, 'system')), own(body, 'tools'));
  return {
    ...NOTHING_ASKED,
    ...cachedPart(body, input, cache),
    model,
    stream,
    prompt,
    inputTokens: input,
    tools: specs,
    toolChoice,
    parallel:
      typeof choice['disable_parallel_tool_use'] === 'boolean' ? !choice['disable_parallel_tool_use'] : undefined,
    turns,
    toolResults,
    effort: thinks ? effort : undefined,
    format: format['type'] === 'json_schema' ? (own(format, 'schema') ?? true) : undefined,
    maxTokens,
    stop: stops(own(body, 'stop_sequences'), 'stop_sequences', 8191),
    seed: contentSeed(body, seed),
  };
}

/** The tokens up to the last `cache_control` mark: written to the cache the first time, read from it after that. */
function cachedPart(
  body: Json,
  inputTokens: number,
  cache: PromptCache,
): Pick<Ask, 'cachedTokens' | 'cacheWriteTokens'> {
  const turns = list(own(body, 'messages')).flatMap((message) => list(object(message)['content']));
  const parts = [...list(own(body, 'tools')), ...list(own(body, 'system')), ...turns];
  const last = parts.map((part) => isObject(object(part)['cache_control'])).lastIndexOf(true);
  if (last < 0) return { cachedTokens: 0, cacheWriteTokens: 0 };
  const marked = parts.slice(0, last + 1).map((part) => ({ ...object(part), cache_control: undefined }));
  const text = marked.map((part) => textOf([part]) || JSON.stringify(part)).join('\n');
  const tokens = Math.min(countTokens(text), inputTokens);
  return cache.touch(JSON.stringify(marked))
    ? { cachedTokens: tokens, cacheWriteTokens: 0 }
    : { cachedTokens: 0, cacheWriteTokens: tokens };
}

const systemText = (system: unknown) => (system === undefined || system === null ? undefined : textOf(system));

function messagesToolChoice(choice: Json, names: readonly string[]): Ask['toolChoice'] {
  switch (choice['type']) {
    case undefined:
    case 'auto':
      return 'auto';
    case 'none':
      return 'none';
    case 'any':
      if (names.length === 0) bad('tool_choice', 'tool_choice: needs tools');
      return 'required';
    case 'tool': {
      const name = string(choice['name']);
      if (!names.includes(name)) bad('tool_choice', `tool_choice: Tool '${name}' not found in provided tools`);
      return { name };
    }
    default:
      return bad('tool_choice.type', "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'");
  }
}

const STOP = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  refusal: 'refusal',
} as const;

/** An answer of the Messages endpoint; both gateways speak it as Anthropic does, A adds the cost. */
export function renderMessage(ask: Ask, plan: Plan, answer: Answer): Rendering {
  const { dialect } = answer;
  const [choice] = plan.choices;
  const id = dialect === 'a' ? `gen-${answer.created}-${answer.requestId.slice(4)}` : `msg_${answer.requestId}`;
  // The wire's `input_tokens` leaves out what was read from or written to the cache.
  const inputSide = {
    input_tokens: plan.inputTokens - ask.cachedTokens - ask.cacheWriteTokens,
    cache_creation_input_tokens: ask.cacheWriteTokens,
    cache_read_input_tokens: ask.cachedTokens,
  };
  const cost = dialect === 'a' ? { cost: answer.cost(plan.inputTokens, ask.cachedTokens, plan.outputTokens) } : {};
  const thinkingTokens =
    plan.reasoningTokens > 0 ? { output_tokens_details: { thinking_tokens: plan.reasoningTokens } } : {};
  const stop = { stop_reason: STOP[choice.finish], stop_sequence: choice.stopSequence ?? null };
  const details =
    stop.stop_reason === 'refusal'
      ? { stop_details: { type: 'refusal', category: null, explanation: 'The request was declined.' } }
      : {};
  const base = { id, type: 'message', role: 'assistant', model: answer.resolvedModel };
  const signature = Buffer.from(`signed:${answer.requestId}`).toString('base64');
  const words = [...choice.refusal, ...choice.text];
  const hasText = words.length > 0 || (choice.calls.length === 0 && choice.reasoning.length === 0);

  function* block(
    index: number,
    start: Json,
    deltas: Iterable<readonly [Json, number]>,
    startTokens = 0,
  ): Generator<Frame> {
    yield event({ type: 'content_block_start', index, content_block: start }, startTokens);
    for (const [delta, tokens] of deltas) yield event({ type: 'content_block_delta', index, delta }, tokens);
    yield event({ type: 'content_block_stop', index });
  }
  const deltas = (pieces: readonly string[], type: string, field: string) =>
    pieces.map((piece) => [{ type, [field]: piece }, 1] as const);

  function* frames(): Generator<Frame> {
    yield event({
      type: 'message_start',
      message: {
        ...base,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...inputSide, output_tokens: 1 },
      },
    });
    yield event({ type: 'ping' });
    let index = 0;
    if (choice.reasoning.length > 0) {
      const signed = [{ type: 'signature_delta', signature }, 0] as const;
      const thinking = deltas(choice.reasoning, 'thinking_delta', 'thinking');
      yield* block(index++, { type: 'thinking', thinking: '', signature: '' }, [...thinking, signed]);
    }
    if (hasText) yield* block(index++, { type: 'text', text: '' }, deltas(words, 'text_delta', 'text'));
    for (const call of choice.calls) {
      const at = answer.toolIndexes === 'right' ? index++ : 0;
      const start = { type: 'tool_use', id: `toolu_${call.id}`, name: call.name, input: {} };
      // An empty object is what a call without any input stands for; it is not sent.
      const pieces = call.pieces.join('') === '{}' ? [] : call.pieces;
      const opening = [{ type: 'input_json_delta', partial_json: '' }, call.pieces.length - pieces.length] as const;
      yield* block(at, start, [opening, ...deltas(pieces, 'input_json_delta', 'partial_json')], countTokens(call.name));
    }
    yield event({
      type: 'message_delta',
      delta: { ...stop, ...details },
      usage: { output_tokens: plan.outputTokens, ...thinkingTokens, ...cost },
    });
    yield { ...event({ type: 'message_stop' }), terminator: true };
  }

  const error = (problem: Problem): Frame[] => [
    event({
      type: 'error',
      error: { details: null, type: problem.type ?? wordsOf(problem.status).messages, message: problem.message },
      request_id: answer.requestId,
    }),
  ];

  return {
    plannedTokens: plan.outputTokens,
    inputTokens: plan.inputTokens,
    cachedTokens: ask.cachedTokens,
    frames,
    error,
    failed: error,
    keepAlive: () => (dialect === 'a' ? comment('GATEWAY PROCESSING') : 'event: ping\ndata: {"type":"ping"}\n\n'),
    whole: () => ({
      ...base,
      content: [
        ...(choice.reasoning.length > 0 ? [{ type: 'thinking', thinking: choice.reasoning.join(''), signature }] : []),
        ...(hasText ? [{ type: 'text', text: words.join('') }] : []),
        ...choice.calls.map((call) => ({
          type: 'tool_use',
          id: `toolu_${call.id}`,
          name: call.name,
          input: parsed(call.pieces.join('')),
        })),
      ],
      ...stop,
      ...details,
      usage: { ...inputSide, output_tokens: plan.outputTokens, ...thinkingTokens, ...cost },
    }),
  };
}

/** Arguments that `max_tokens` cut have no JSON value; the whole answer then holds an empty input, as the vendor's does. */
function parsed(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}
