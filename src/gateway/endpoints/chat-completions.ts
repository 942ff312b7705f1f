import { type PlannedCall, type PlannedChoice } from '../content/plan.js';
import { countTokens } from '../content/tokens.js';
import { isObject, list, object, own, string, type Json } from '../json.js';
import { wordsOf } from '../problems.js';
import {
  bad,
  comment,
  data,
  DONE,
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

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** Reads a Chat Completions request, or refuses it as the gateways do. */
export function readChat(body: Json, seed: string): Ask {
  const model = requireModel(body);
  const stream = requireStream(body);
  const messages = own(body, 'messages');
  if (!Array.isArray(messages) || messages.length === 0)
    bad('messages', "'messages' must be a list with at least one message");
  const called = new Map<string, string>();
  let prompt = '';
  let turns = 0;
  let toolResults: { name: string; text: string }[] = [];
  (messages as unknown[]).forEach((entry, i) => {
    const message = isObject(entry) ? entry : bad(`messages[${i}]`, `'messages[${i}]' must be an object`);
    const role = string(message['role']);
    if (!ROLES.includes(role)) bad(`messages[${i}].role`, `'messages[${i}].role' must be one of ${ROLES.join(', ')}`);
    const content = message['content'];
    if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
      bad(`messages[${i}].content`, `'messages[${i}].content' must be a string or a list of parts`);
    }
    if (role === 'user') {
      if (content === undefined || content === null)
        bad(`messages[${i}].content`, `'messages[${i}].content' is missing`);
      prompt = textOf(content);
      turns++;
      toolResults = [];
    } else if (role === 'assistant') {
      for (const call of list(message['tool_calls'])) {
        const { id, function: fn, custom } = object(call);
        called.set(string(id), string(object(fn ?? custom)['name']));
      }
    } else if (role === 'tool') {
      const id = string(message['tool_call_id']);
      const name = called.get(id);
      if (name === undefined) {
        bad(
          `messages[${i}].tool_call_id`,
          `'messages[${i}]' must answer a tool call of an earlier message, by its 'tool_call_id'`,
        );
      }
      toolResults.push({ name: name ?? '', text: textOf(content) });
    }
  });
  range(body, 'temperature', 0, 2);
  range(body, 'top_p', 0, 1);

  const tools = own(body, 'tools');
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) bad('tools', "'tools' must be a list");
  const specs = list(tools).flatMap((tool, i) => {
    const { type, function: fn, custom } = object(tool);
    if (type !== 'function' && type !== 'custom') {
      if (typeof type === 'string' && type !== '') return []; // a tool that a server would run
      bad(`tools[${i}].type`, `'tools[${i}].type' must be 'function' or 'custom'`);
    }
    const spec = object(type === 'custom' ? custom : fn);
    const name = string(spec['name']);
    if (!/^[\w.-]{1,128}$/.test(name))
      bad(`tools[${i}].${type}.name`, `'tools[${i}]' needs a name of letters, digits, '_' and '-'`);
    return [{ name, custom: type === 'custom', schema: spec['parameters'] }];
  });

  const reasoning = object(own(body, 'reasoning'));
  const effort = string(own(body, 'reasoning_effort')) || string(reasoning['effort']);
  const wantsReasoning =
    (effort !== '' && effort !== 'none') ||
    reasoning['enabled'] === true ||
    typeof reasoning['max_tokens'] === 'number' ||
    own(body, 'include_reasoning') === true;

  return {
    ...NOTHING_ASKED,
    model,
    stream,
    prompt,
    inputTokens: inputTokens(messages as unknown[], tools, own(body, 'response_format')),
    tools: specs,
    toolChoice: chatToolChoice(
      own(body, 'tool_choice'),
      specs.map((spec) => spec.name),
    ),
    parallel: typeof body['parallel_tool_calls'] === 'boolean' ? body['parallel_tool_calls'] : undefined,
    turns,
    toolResults,
    effort: wantsReasoning ? effort || 'medium' : undefined,
    format: chatFormat(own(body, 'response_format')),
    maxTokens: wholeNumber(body, 'max_completion_tokens') ?? wholeNumber(body, 'max_tokens'),
    n: wholeNumber(body, 'n', 1, 128) ?? 1,
    stop: stops(own(body, 'stop'), 'stop', 4),
    seed: contentSeed(body, seed),
  };
}

export function chatToolChoice(choice: unknown, names: readonly string[]): Ask['toolChoice'] {
  if (choice === undefined || choice === null || choice === 'auto') return 'auto';
  if (choice === 'none') return 'none';
  if (choice === 'required' || choice === 'any') {
    if (names.length === 0) bad('tool_choice', "'tool_choice' needs 'tools'");
    return 'required';
  }
  const wanted = object(choice);
  if (wanted['type'] === 'allowed_tools') {
    return string(object(wanted['allowed_tools'])['mode']) === 'required' || wanted['mode'] === 'required'
      ? 'required'
      : 'auto';
  }
  const name = string(object(wanted['function'] ?? wanted['custom'])['name']) || string(wanted['name']);
  if (!names.includes(name)) bad('tool_choice', "'tool_choice' names a tool that is not in 'tools'");
  return { name };
}

function chatFormat(format: unknown): unknown {
  const { type, json_schema: schema } = object(format);
  if (type === undefined || type === 'text') return undefined;
  if (type === 'json_object') return true;
  if (type !== 'json_schema')
    bad('response_format.type', "'response_format.type' must be 'text', 'json_object' or 'json_schema'");
  if (!isObject(own(object(schema), 'schema')))
    bad('response_format.json_schema.schema', "'response_format.json_schema.schema' is missing");
  return own(object(schema), 'schema');
}

const FINISH = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
  refusal: 'stop',
} as const;

/** An answer of the Chat Completions endpoint, in the words of gateway A or B. */
export function renderChat(ask: Ask, plan: Plan, answer: Answer): Rendering {
  const { dialect } = answer;
  const id = dialect === 'a' ? `gen-${answer.created}-${answer.requestId.slice(4)}` : `chatcmpl_${answer.requestId}`;
  const includeUsage = object(own(answer.body, 'stream_options'))['include_usage'] === true;
  const cost = answer.cost(plan.inputTokens, ask.cachedTokens, plan.outputTokens);
  const cached = ask.cachedTokens;
  const usage = {
    prompt_tokens: plan.inputTokens,
    completion_tokens: plan.outputTokens,
    total_tokens: plan.inputTokens + plan.outputTokens,
    prompt_tokens_details:
      dialect === 'a' ? { cached_tokens: cached } : { cached_tokens: cached, cache_creation_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: plan.reasoningTokens },
    ...(dialect === 'a' ? { cost, is_byok: false } : {}),
  };
  const receipt = {
    resolved_model: answer.resolvedModel,
    provider: answer.provider,
    usage,
    cost_usd: cost,
    request_id: answer.requestId,
    routing: routingOf(answer),
  };
  const identity = { object: 'chat.completion.chunk', created: answer.created, model: answer.resolvedModel };

  // The seeds show A's chunks without `finish_reason` until the last, and B's with a null.
  const chunk = (index: number, delta: Json, finish?: string, beside: Json = {}, tokens = 0): Frame => {
    const choice =
      dialect === 'a'
        ? { index, delta, ...(finish ? { finish_reason: finish } : {}) }
        : { index, delta, finish_reason: finish ?? null };
    return dialect === 'a'
      ? data({ id, choices: [choice], ...identity, provider: answer.provider, ...beside }, tokens)
      : data({ id, ...(finish ? identity : { object: identity.object }), choices: [choice], ...beside }, tokens);
  };

  function* choiceFrames(choice: PlannedChoice, index: number): Generator<Frame> {
    yield chunk(index, { role: 'assistant', content: '' });
    for (const piece of choice.reasoning) yield chunk(index, reasoningDelta(piece), undefined, {}, 1);
    for (const piece of choice.refusal) yield chunk(index, { refusal: piece }, undefined, {}, 1);
    for (const piece of choice.text) yield chunk(index, { content: piece }, undefined, {}, 1);
    for (const [at, call] of choice.calls.entries()) {
      const position =
        answer.toolIndexes === 'right' ? { index: at } : answer.toolIndexes === 'zero' ? { index: 0 } : {};
      const start = call.custom
        ? { custom: { name: call.name, input: '' } }
        : { function: { name: call.name, arguments: '' } };
      const opening = { ...position, id: `call_${call.id}`, type: call.custom ? 'custom' : 'function', ...start };
      yield chunk(index, { tool_calls: [opening] }, undefined, {}, countTokens(call.name));
      for (const piece of call.pieces) {
        const more = call.custom ? { custom: { input: piece } } : { function: { arguments: piece } };
        yield chunk(index, { tool_calls: [{ ...position, ...more }] }, undefined, {}, 1);
      }
    }
  }

  const reasoningDelta = (piece: string): Json =>
    dialect === 'a'
      ? {
          content: '',
          reasoning: piece,
          reasoning_details: [{ type: 'reasoning.text', text: piece, format: 'unknown', index: 0 }],
        }
      : { content: null, reasoning_content: piece };

  function* frames(): Generator<Frame> {
    // Choices take turns, as providers send them.
    let open = plan.choices.map((choice, index) => choiceFrames(choice, index));
    while (open.length > 0) {
      const still: typeof open = [];
      for (const one of open) {
        const next = one.next();
        if (next.done) continue;
        yield next.value;
        still.push(one);
      }
      open = still;
    }
    for (const [index, choice] of plan.choices.entries()) {
      const last = index === plan.choices.length - 1;
      yield chunk(index, {}, FINISH[choice.finish], dialect === 'b' && last ? receipt : {});
    }
    if (dialect === 'a') {
      const choices = includeUsage ? [] : [{ index: 0, delta: {} }];
      yield data({ id, choices, usage, ...identity, provider: answer.provider });
    }
    yield DONE;
  }

  const error = (problem: Problem, delivered: number): Frame[] => {
    if (dialect === 'b') {
      const code = problem.code ?? (delivered > 0 ? 'partial_stream' : 'stream_error');
      const error = {
        type: problem.type ?? wordsOf(problem.status).b,
        code,
        message: problem.message,
        request_id: answer.requestId,
      };
      return [data({ error }), DONE];
    }
    const error = {
      code: problem.status,
      message: problem.message,
      metadata: { error_type: problem.type ?? wordsOf(problem.status).a },
    };
    const choices = [{ index: 0, delta: { content: '' }, finish_reason: 'error' }];
    return [data({ id, choices, ...identity, provider: answer.provider, error }), DONE];
  };

  return {
    plannedTokens: plan.outputTokens,
    inputTokens: plan.inputTokens,
    cachedTokens: cached,
    frames,
    error,
    failed: error,
    keepAlive: () => comment(dialect === 'a' ? 'GATEWAY PROCESSING' : 'keepalive'),
    whole: () => ({
      id,
      object: 'chat.completion',
      created: answer.created,
      model: answer.resolvedModel,
      choices: plan.choices.map((choice, index) => ({
        index,
        message: message(choice, dialect),
        logprobs: null,
        finish_reason: FINISH[choice.finish],
      })),
      ...(dialect === 'a' ? { usage, provider: answer.provider } : receipt),
    }),
  };
}

export function routingOf(answer: Answer): Json {
  const provider = object(own(answer.body, 'provider'));
  return {
    strategy: string(own(object(own(answer.body, 'routing')), 'strategy')) || 'balanced',
    requested_models: answer.requestedModels,
    resolved_model: answer.resolvedModel,
    provider: answer.provider,
    fallbacks_allowed: provider['allow_fallbacks'] !== false,
    data_policy: 'default',
  };
}

function message(choice: PlannedChoice, dialect: 'a' | 'b'): Json {
  const reasoning = choice.reasoning.join('');
  const text = choice.text.join('');
  return {
    role: 'assistant',
    content: text === '' && (choice.calls.length > 0 || choice.refusal.length > 0) ? null : text,
    refusal: choice.refusal.length > 0 ? choice.refusal.join('') : null,
    ...(reasoning === ''
      ? {}
      : dialect === 'a'
        ? { reasoning, reasoning_details: [{ type: 'reasoning.text', text: reasoning, format: 'unknown', index: 0 }] }
        : { reasoning_content: reasoning }),
    ...(choice.calls.length > 0 ? { tool_calls: choice.calls.map(wholeCall) } : {}),
  };
}

function wholeCall(call: PlannedCall): Json {
  const text = call.pieces.join('');
  return call.custom
    ? { id: `call_${call.id}`, type: 'custom', custom: { name: call.name, input: text } }
    : { id: `call_${call.id}`, type: 'function', function: { name: call.name, arguments: text } };
}
