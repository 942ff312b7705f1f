import type {
  ResponseAnnotation,
  ResponseContentPart,
  ResponseFunctionCallItem,
  ResponseMessageItem,
  ResponseOutputItem,
  ResponseReasoningItem,
} from '../endpoints/responses/items.js';
import type {
  ResponseErrorBody,
  ResponseIncompleteReason,
  ResponseObject,
  ResponseUsage,
} from '../endpoints/responses/response.js';
import type { ResponseStreamEvent } from '../endpoints/responses/wire.js';
import {
  argumentPieces,
  argumentsText,
  CREATED,
  MODEL,
  piecesOf,
  textOf,
  type TurnParts,
  type TurnText,
  type TurnToolCall,
} from './turn.js';

/** Where in the response an event belongs. */
export interface ResponsePlace {
  /** Default 0. */
  readonly output_index?: number;
  readonly item_id?: string;
  /** Default 0, where the event has one. */
  readonly content_index?: number;
  readonly sequence_number?: number;
}

export interface ResponseToolCallFields extends TurnToolCall {
  /** The item's own id; results refer to `id`, the wire's `call_id`. Default `fc_` and the number of the item. */
  readonly item_id?: string;
}

export interface ResponseTurnOptions extends TurnParts {
  readonly usage?: ResponseUsage;
  /** Ends the response before it is complete, for this reason. */
  readonly incomplete?: ResponseIncompleteReason;
  /** Fields of the response object, in all events that hold it: `id`, `model`, a gateway's receipt… */
  readonly response?: Partial<ResponseObject>;
}

type EventOf<Type extends ResponseStreamEvent['type']> = Extract<ResponseStreamEvent, { readonly type: Type }>;

interface Lifecycle<Type> {
  readonly type: Type;
  readonly response: ResponseObject;
}

interface ItemEvent<Type> {
  readonly type: Type;
  readonly output_index: number;
  readonly item: ResponseOutputItem;
  readonly sequence_number?: number;
}

function responseObject(fields: Partial<ResponseObject>): ResponseObject {
  const envelope = { id: 'resp_1', object: 'response', created_at: CREATED, model: MODEL } as const;
  return { ...envelope, output: [], ...fields };
}

function lifecycle<Type extends string>(type: Type, status: string, fields: Partial<ResponseObject>): Lifecycle<Type> {
  return { type, response: responseObject({ status, ...fields }) };
}

function place(prefix: string, { output_index = 0, item_id, ...rest }: ResponsePlace) {
  return { item_id: item_id ?? `${prefix}_${output_index + 1}`, output_index, ...rest };
}

function part(prefix: string, at: ResponsePlace) {
  return { content_index: 0, ...place(prefix, at) };
}

function itemEvent<Type extends string>(
  type: Type,
  item: ResponseOutputItem,
  { output_index = 0, sequence_number }: ResponsePlace = {},
): ItemEvent<Type> {
  return { type, output_index, item, ...(sequence_number === undefined ? {} : { sequence_number }) };
}

function callItem(call: ResponseToolCallFields, at: ResponsePlace, status: string): ResponseFunctionCallItem {
  const number = (at.output_index ?? 0) + 1;
  return {
    type: 'function_call',
    id: call.item_id ?? at.item_id ?? `fc_${number}`,
    call_id: call.id ?? `call_${number}`,
    name: call.name,
    arguments: argumentsText(call.arguments),
    status,
  };
}

function toolArguments(delta: string, at: ResponsePlace = {}): EventOf<'response.function_call_arguments.delta'> {
  return { type: 'response.function_call_arguments.delta', ...place('fc', at), delta };
}

function toolArgumentsDone(
  args: string | object,
  at: ResponsePlace = {},
): EventOf<'response.function_call_arguments.done'> {
  return { type: 'response.function_call_arguments.done', ...place('fc', at), arguments: argumentsText(args) };
}

/** The events of one item, and the item as it stands in the final response. */
interface TurnItem {
  readonly item: ResponseOutputItem;
  readonly events: readonly ResponseStreamEvent[];
}

function reasoningItem(text: TurnText, output_index: number): TurnItem {
  const id = `rs_${output_index + 1}`;
  const at = part('rs', { output_index });
  const content = { type: 'reasoning_text', text: textOf(text) } as const;
  const item: ResponseReasoningItem = { type: 'reasoning', id, summary: [], content: [content], status: 'completed' };
  return {
    item,
    events: [
      itemEvent('response.output_item.added', { ...item, content: [], status: 'in_progress' }, at),
      { type: 'response.content_part.added', ...at, part: { ...content, text: '' } },
      ...piecesOf(text).map((delta) => ({ type: 'response.reasoning_text.delta', ...at, delta }) as const),
      { type: 'response.reasoning_text.done', ...at, text: content.text },
      { type: 'response.content_part.done', ...at, part: content },
      itemEvent('response.output_item.done', item, at),
    ],
  };
}

function messageItem(text: TurnText, refusal: TurnText | undefined, output_index: number): TurnItem {
  const id = `msg_${output_index + 1}`;
  const content: ResponseContentPart[] = [];
  const events: ResponseStreamEvent[] = [];
  if (textOf(text) !== '' || refusal === undefined) {
    const at = part('msg', { output_index, content_index: content.length });
    const whole = { type: 'output_text', text: textOf(text), annotations: [] } as const;
    content.push(whole);
    events.push(
      { type: 'response.content_part.added', ...at, part: { ...whole, text: '' } },
      ...piecesOf(text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta }) as const),
      { type: 'response.output_text.done', ...at, text: whole.text },
      { type: 'response.content_part.done', ...at, part: whole },
    );
  }
  if (refusal !== undefined) {
    const at = part('msg', { output_index, content_index: content.length });
    const whole = { type: 'refusal', refusal: textOf(refusal) } as const;
    content.push(whole);
    events.push(
      { type: 'response.content_part.added', ...at, part: { ...whole, refusal: '' } },
      ...piecesOf(refusal).map((delta) => ({ type: 'response.refusal.delta', ...at, delta }) as const),
      { type: 'response.refusal.done', ...at, refusal: whole.refusal },
      { type: 'response.content_part.done', ...at, part: whole },
    );
  }
  const item: ResponseMessageItem = { type: 'message', id, role: 'assistant', status: 'completed', content };
  const at = { output_index };
  return {
    item,
    events: [
      itemEvent('response.output_item.added', { ...item, content: [], status: 'in_progress' }, at),
      ...events,
      itemEvent('response.output_item.done', item, at),
    ],
  };
}

function functionCallItem(call: TurnToolCall, callIndex: number, output_index: number): TurnItem {
  const at = place('fc', { output_index });
  const item = callItem({ id: `call_${callIndex + 1}`, ...call }, at, 'completed');
  return {
    item,
    events: [
      itemEvent('response.output_item.added', { ...item, arguments: '', status: 'in_progress' }, at),
      ...argumentPieces(call.arguments).map((piece) => toolArguments(piece, at)),
      toolArgumentsDone(item.arguments, at),
      itemEvent('response.output_item.done', item, at),
    ],
  };
}

function turn(text: TurnText, options: ResponseTurnOptions = {}): ResponseStreamEvent[] {
  const { reasoning, refusal, toolCalls = [], usage, incomplete, response = {} } = options;
  const items: TurnItem[] = [];
  if (reasoning !== undefined) items.push(reasoningItem(reasoning, items.length));
  if (textOf(text) !== '' || refusal !== undefined || toolCalls.length === 0) {
    items.push(messageItem(text, refusal, items.length));
  }
  toolCalls.forEach((call, index) => items.push(functionCallItem(call, index, items.length)));

  const end = { output: items.map(({ item }) => item), ...(usage ? { usage: withTotal(usage) } : {}), ...response };
  return numbered([
    lifecycle('response.created', 'in_progress', response),
    lifecycle('response.in_progress', 'in_progress', response),
    ...items.flatMap(({ events }) => events),
    incomplete === undefined
      ? lifecycle('response.completed', 'completed', end)
      : lifecycle('response.incomplete', 'incomplete', { incomplete_details: { reason: incomplete }, ...end }),
  ]);
}

function withTotal(usage: ResponseUsage): ResponseUsage {
  return { total_tokens: (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0), ...usage };
}

function numbered(events: readonly ResponseStreamEvent[]): ResponseStreamEvent[] {
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

/**
 * Builds events of `responses`. The same call gives an equal event: ids are fixed, the place is the first item's
 * unless the last argument says otherwise. Single events have no `sequence_number`, as behind some proxies; `turn` and
 * `numbered` give them.
 *
 * @example
 * ```ts
 * import { responses } from 'rx-llm/testing';
 *
 * const values = {
 *   c: responses.created(),
 *   h: responses.text('Hello'),
 *   t: responses.toolCall({ name: 'weather' }, { output_index: 1 }),
 *   a: responses.toolArguments('{"city":"Oslo"}', { output_index: 1 }),
 *   e: responses.completed({ usage: { input_tokens: 9, output_tokens: 4 } }),
 * };
 * ```
 */
export const responses = {
  created: (response: Partial<ResponseObject> = {}): EventOf<'response.created'> =>
    lifecycle('response.created', 'in_progress', response),
  inProgress: (response: Partial<ResponseObject> = {}): EventOf<'response.in_progress'> =>
    lifecycle('response.in_progress', 'in_progress', response),
  text: (delta: string, at: ResponsePlace = {}): EventOf<'response.output_text.delta'> => ({
    type: 'response.output_text.delta',
    ...part('msg', at),
    delta,
  }),
  /** The whole text of a part, at its end. */
  textDone: (text: string, at: ResponsePlace = {}): EventOf<'response.output_text.done'> => ({
    type: 'response.output_text.done',
    ...part('msg', at),
    text,
  }),
  /** The raw chain of thought. */
  reasoning: (delta: string, at: ResponsePlace = {}): EventOf<'response.reasoning_text.delta'> => ({
    type: 'response.reasoning_text.delta',
    ...part('rs', at),
    delta,
  }),
  reasoningSummary: (delta: string, at: ResponsePlace = {}): EventOf<'response.reasoning_summary_text.delta'> => ({
    type: 'response.reasoning_summary_text.delta',
    ...place('rs', at),
    summary_index: 0,
    delta,
  }),
  refusal: (delta: string, at: ResponsePlace = {}): EventOf<'response.refusal.delta'> => ({
    type: 'response.refusal.delta',
    ...part('msg', at),
    delta,
  }),
  annotation: (
    annotation: ResponseAnnotation,
    at: ResponsePlace = {},
  ): EventOf<'response.output_text.annotation.added'> => ({
    type: 'response.output_text.annotation.added',
    ...part('msg', at),
    annotation_index: 0,
    annotation,
  }),
  /** Opens the item of a function call, with its arguments if they are given. */
  toolCall: (call: ResponseToolCallFields, at: ResponsePlace = {}): EventOf<'response.output_item.added'> =>
    itemEvent('response.output_item.added', callItem(call, at, 'in_progress'), at),
  /** A piece of a call's arguments. */
  toolArguments,
  /** The whole arguments of a call, at their end. */
  toolArgumentsDone,
  /** Closes the item of a function call. */
  toolCallDone: (call: ResponseToolCallFields, at: ResponsePlace = {}): EventOf<'response.output_item.done'> =>
    itemEvent('response.output_item.done', callItem(call, at, 'completed'), at),
  /** Opens any item. */
  itemAdded: (item: ResponseOutputItem, at?: ResponsePlace): EventOf<'response.output_item.added'> =>
    itemEvent('response.output_item.added', item, at),
  /** Closes any item, with its full value. */
  itemDone: (item: ResponseOutputItem, at?: ResponsePlace): EventOf<'response.output_item.done'> =>
    itemEvent('response.output_item.done', item, at),
  partialImage: (
    base64: string,
    index = 0,
    at: ResponsePlace = {},
  ): EventOf<'response.image_generation_call.partial_image'> => ({
    type: 'response.image_generation_call.partial_image',
    ...place('ig', at),
    partial_image_index: index,
    partial_image_b64: base64,
  }),
  /** The success terminator, with the usage and the output as far as they are given. */
  completed: ({ usage, ...response }: Partial<ResponseObject> = {}): EventOf<'response.completed'> =>
    lifecycle('response.completed', 'completed', { ...response, ...(usage ? { usage: withTotal(usage) } : {}) }),
  incomplete: (
    reason: ResponseIncompleteReason,
    response: Partial<ResponseObject> = {},
  ): EventOf<'response.incomplete'> =>
    lifecycle('response.incomplete', 'incomplete', { incomplete_details: { reason }, ...response }),
  /** The client emits it, then raises a `StreamEventError`. */
  failed: (error: string | ResponseErrorBody, response: Partial<ResponseObject> = {}): EventOf<'response.failed'> =>
    lifecycle('response.failed', 'failed', {
      error: typeof error === 'string' ? { code: 'server_error', message: error } : error,
      ...response,
    }),
  /** An error event; the client raises it as a `StreamEventError`. */
  error: (error: string | ResponseErrorBody): EventOf<'error'> => ({
    type: 'error',
    ...(typeof error === 'string' ? { code: 'server_error', message: error, param: null } : { error }),
  }),
  keepalive: (): EventOf<'keepalive'> => ({ type: 'keepalive' }),
  /** The events with `sequence_number` from 0. */
  numbered,
  /**
   * A whole answer: every item opened, streamed in pieces and closed, and the final response with all of them. Without
   * tool calls there is always a message; with them only where there is text or a refusal.
   */
  turn,
} as const;
