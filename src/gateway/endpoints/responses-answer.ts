import { type PlannedCall } from '../content/plan.js';
import { countTokens } from '../content/tokens.js';
import { list, object, own, type Json } from '../json.js';
import { wordsOf } from '../problems.js';
import {
  comment,
  event,
  type Answer,
  type Ask,
  type Frame,
  type Plan,
  type Problem,
  type Rendering,
} from '../protocol.js';
import { routingOf } from './chat-completions.js';

/** An answer of the Responses endpoint, in the words of gateway A or B. */
export function renderResponse(
  ask: Ask,
  plan: Plan,
  answer: Answer,
): Rendering & { readonly id: string; readonly items: readonly Json[] } {
  const { dialect, body } = answer;
  const tail = answer.requestId.slice(4);
  const id = dialect === 'a' ? `gen-${answer.created}-${tail}` : `resp_${answer.requestId}`;
  const [choice] = plan.choices;
  const cost = answer.cost(plan.inputTokens, ask.cachedTokens, plan.outputTokens);
  let sequence = 0;
  const send = (type: string, fields: Json, tokens = 0): Frame =>
    event(
      // B prints the number last, A and OpenAI right after the type.
      dialect === 'a'
        ? { type, sequence_number: sequence++, ...fields }
        : { type, ...fields, sequence_number: sequence++ },
      tokens,
    );

  const summary = object(own(body, 'reasoning'))['summary'] ?? null;
  // A documents `response.reasoning.delta`; the OpenAI SDK's stream helper throws at event names it does not know, so A spares it
  // those, as gateways do that look at the user agent.
  const raw =
    dialect === 'a' && !/\bOpenAI\//.test(answer.userAgent) ? 'response.reasoning' : 'response.reasoning_text';
  const usageOf = (output: number) => ({
    input_tokens: plan.inputTokens,
    input_tokens_details:
      dialect === 'a'
        ? { cached_tokens: ask.cachedTokens }
        : { cached_tokens: ask.cachedTokens, cache_creation_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: plan.reasoningTokens },
    total_tokens: plan.inputTokens + output,
    ...(dialect === 'a' ? { cost: answer.cost(plan.inputTokens, ask.cachedTokens, output) } : {}),
  });
  const response = (status: string, output: readonly Json[], beside: Json = {}): Json =>
    dialect === 'b'
      ? {
          id,
          object: 'response',
          created_at: answer.created,
          status,
          model: status === 'in_progress' ? answer.model : answer.resolvedModel,
          output,
          ...beside,
        }
      : {
          id,
          object: 'response',
          created_at: answer.created,
          status,
          error: null,
          incomplete_details: null,
          instructions: own(body, 'instructions') ?? null,
          max_output_tokens: ask.maxTokens ?? null,
          model: answer.resolvedModel,
          output,
          parallel_tool_calls: own(body, 'parallel_tool_calls') ?? true,
          previous_response_id: own(body, 'previous_response_id') ?? null,
          reasoning: { effort: object(own(body, 'reasoning'))['effort'] ?? null, summary },
          store: own(body, 'store') ?? true,
          temperature: own(body, 'temperature') ?? 1,
          text: own(body, 'text') ?? { format: { type: 'text' } },
          tool_choice: own(body, 'tool_choice') ?? 'auto',
          tools: own(body, 'tools') ?? [],
          top_p: own(body, 'top_p') ?? 1,
          truncation: own(body, 'truncation') ?? 'disabled',
          usage: null,
          user: null,
          metadata: own(body, 'metadata') ?? {},
          provider: answer.provider,
          ...beside,
        };

  const done: Json[] = [];
  const encrypted = list(own(body, 'include')).includes('reasoning.encrypted_content');

  const reasoningText = choice.reasoning.join('');
  const reasoningItem = (): Json => ({
    id: `rs_${answer.requestId}`,
    type: 'reasoning',
    summary: summary ? [{ type: 'summary_text', text: reasoningText }] : [],
    ...(summary ? {} : { content: [{ type: 'reasoning_text', text: reasoningText }] }),
    ...(encrypted ? { encrypted_content: Buffer.from(`sealed:${reasoningText}`).toString('base64') } : {}),
    status: 'completed',
  });
  const text = choice.text.join('');
  const refusal = choice.refusal.join('');
  const textPart = (value: string): Json => ({
    type: 'output_text',
    text: value,
    annotations: [],
    ...(dialect === 'a' ? { logprobs: [] } : {}),
  });
  const refusalPart = (value: string): Json => ({ type: 'refusal', refusal: value });
  const cut = choice.finish === 'length' || choice.finish === 'content_filter';
  const messageItem = (status: string, content: readonly Json[]): Json => ({
    id: `msg_${answer.requestId}`,
    type: 'message',
    role: 'assistant',
    status,
    content,
  });
  const callItem = (call: PlannedCall, status: string, value: string): Json =>
    call.custom
      ? {
          id: `ctc_${call.id}`,
          type: 'custom_tool_call',
          status,
          call_id: `call_${call.id}`,
          name: call.name,
          input: value,
        }
      : {
          id: `fc_${call.id}`,
          type: 'function_call',
          status,
          arguments: value,
          call_id: `call_${call.id}`,
          name: call.name,
        };
  const hasMessage = text !== '' || refusal !== '' || (choice.calls.length === 0 && !(cut && reasoningText !== ''));
  const allItems = (): Json[] => [
    ...(reasoningText === '' ? [] : [reasoningItem()]),
    ...(hasMessage
      ? [messageItem(cut ? 'incomplete' : 'completed', [refusal === '' ? textPart(text) : refusalPart(refusal)])]
      : []),
    ...choice.calls.map((call, i, all) =>
      callItem(call, cut && i === all.length - 1 ? 'incomplete' : 'completed', call.pieces.join('')),
    ),
  ];

  const finalFields = (output: readonly Json[]): Json => ({
    ...(dialect === 'b' ? { output_text: text } : { completed_at: answer.created }),
    usage: usageOf(plan.outputTokens),
    ...(cut
      ? { incomplete_details: { reason: choice.finish === 'length' ? 'max_output_tokens' : 'content_filter' } }
      : {}),
    ...(dialect === 'b' ? receipt() : {}),
    output,
  });
  const receipt = (): Json => ({
    cost_usd: cost,
    provider: answer.provider,
    request_id: answer.requestId,
    routing: routingOf(answer),
  });

  function* reasoningFrames(pieces: readonly string[], at: number): Generator<Frame> {
    const item = reasoningItem();
    const place = { item_id: item['id'], output_index: at };
    yield send('response.output_item.added', {
      output_index: at,
      item: { id: item['id'], type: 'reasoning', summary: [], ...(summary ? {} : { content: [] }) },
    });
    if (summary) {
      const spot = { ...place, summary_index: 0 };
      yield send('response.reasoning_summary_part.added', { ...spot, part: { type: 'summary_text', text: '' } });
      for (const delta of pieces) yield send('response.reasoning_summary_text.delta', { ...spot, delta }, 1);
      yield send('response.reasoning_summary_text.done', { ...spot, text: reasoningText });
      yield send('response.reasoning_summary_part.done', {
        ...spot,
        part: { type: 'summary_text', text: reasoningText },
      });
    } else {
      const spot = { ...place, content_index: 0 };
      yield send('response.content_part.added', { ...spot, part: { type: 'reasoning_text', text: '' } });
      for (const delta of pieces) yield send(`${raw}.delta`, { ...spot, delta }, 1);
      yield send(`${raw}.done`, { ...spot, text: reasoningText });
      yield send('response.content_part.done', { ...spot, part: { type: 'reasoning_text', text: reasoningText } });
    }
    done.push(item);
    yield send('response.output_item.done', { output_index: at, item });
  }

  function* messageFrames(at: number): Generator<Frame> {
    const spot = { item_id: `msg_${answer.requestId}`, output_index: at, content_index: 0 };
    const logprobs = dialect === 'a' ? { logprobs: [] } : {};
    yield send('response.output_item.added', { output_index: at, item: messageItem('in_progress', []) });
    if (refusal !== '') {
      yield send('response.content_part.added', { ...spot, part: refusalPart('') });
      for (const delta of choice.refusal) yield send('response.refusal.delta', { ...spot, delta }, 1);
      yield send('response.refusal.done', { ...spot, refusal });
      yield send('response.content_part.done', { ...spot, part: refusalPart(refusal) });
    } else {
      yield send('response.content_part.added', { ...spot, part: textPart('') });
      for (const delta of choice.text) yield send('response.output_text.delta', { ...spot, delta, ...logprobs }, 1);
      yield send('response.output_text.done', { ...spot, text, ...logprobs });
      yield send('response.content_part.done', { ...spot, part: textPart(text) });
    }
    const item = messageItem(cut ? 'incomplete' : 'completed', [
      refusal === '' ? textPart(text) : refusalPart(refusal),
    ]);
    done.push(item);
    yield send('response.output_item.done', { output_index: at, item });
  }

  function* callFrames(call: PlannedCall, at: number, last: boolean): Generator<Frame> {
    const value = call.pieces.join('');
    const item = callItem(call, cut && last ? 'incomplete' : 'completed', value);
    const where =
      answer.toolIndexes === 'right' ? { output_index: at } : answer.toolIndexes === 'zero' ? { output_index: 0 } : {};
    const place = { item_id: item['id'], ...where };
    const [stem, field] = call.custom
      ? ['response.custom_tool_call_input', 'input']
      : ['response.function_call_arguments', 'arguments'];
    yield send(
      'response.output_item.added',
      { ...where, item: callItem(call, 'in_progress', '') },
      countTokens(call.name),
    );
    for (const delta of call.pieces) yield send(`${stem}.delta`, { ...place, delta }, 1);
    const full = () => send(`${stem}.done`, { ...place, [field]: value, ...(call.custom ? {} : { name: call.name }) });
    done.push(item);
    // B lists the full arguments after the item, A before it.
    if (dialect === 'a') yield full();
    yield send('response.output_item.done', { ...where, item });
    if (dialect === 'b') yield full();
  }

  function* frames(): Generator<Frame> {
    const opening = response('in_progress', []);
    yield send('response.created', { response: opening });
    if (dialect === 'a') yield send('response.in_progress', { response: opening });
    let at = 0;
    if (choice.reasoning.length > 0) yield* reasoningFrames(choice.reasoning, at++);
    if (hasMessage) yield* messageFrames(at++);
    for (const [i, call] of choice.calls.entries()) yield* callFrames(call, at++, i === choice.calls.length - 1);
    const status = cut ? 'incomplete' : 'completed';
    yield { ...send(`response.${status}`, { response: response(status, done, finalFields(done)) }), terminator: true };
  }

  return {
    plannedTokens: plan.outputTokens,
    inputTokens: plan.inputTokens,
    cachedTokens: ask.cachedTokens,
    frames,
    error: (problem, delivered) => {
      if (dialect === 'a')
        return [
          send('error', { code: problem.code ?? wordsOf(problem.status).a, message: problem.message, param: null }),
        ];
      const code = problem.code ?? (delivered > 0 ? 'partial_stream' : 'stream_error');
      return [
        send('error', { error: { type: problem.type ?? wordsOf(problem.status).b, code, message: problem.message } }),
      ];
    },
    failed: (problem: Problem, delivered) => {
      const error = {
        code: problem.code ?? (problem.status === 429 ? 'rate_limit_exceeded' : 'server_error'),
        message: problem.message,
      };
      const usage = delivered > 0 ? { usage: usageOf(delivered) } : {};
      return [
        send('response.failed', {
          response: response('failed', done, { error, ...usage, ...(dialect === 'b' ? receipt() : {}) }),
        }),
      ];
    },
    keepAlive: () => comment(dialect === 'a' ? 'GATEWAY PROCESSING' : 'keepalive'),
    whole: () =>
      response(cut ? 'incomplete' : 'completed', allItems(), {
        ...finalFields(allItems()),
        ...(dialect === 'a' ? { output_text: text } : {}),
      }),
    id,
    items: allItems(),
  };
}
