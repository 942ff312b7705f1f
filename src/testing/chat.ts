import type {
  ChatAnnotation,
  ChatFinishReason,
  ChatToolCallDelta,
  ChatUsage,
} from '../endpoints/chat-completions/items.js';
import type {
  ChatChunkChoice,
  ChatCompletionChunk,
  ChatDelta,
  ChatErrorBody,
} from '../endpoints/chat-completions/wire.js';
import {
  argumentPieces,
  argumentsText,
  CREATED,
  MODEL,
  piecesOf,
  type TurnParts,
  type TurnText,
  type TurnToolCall,
} from './turn.js';

/** Fields of the chunk itself, to add to those that a builder sets or to replace them. */
export interface ChatChunkFields extends Omit<ChatCompletionChunk, 'type' | 'choices'> {
  /** The choice that the event belongs to; default 0. */
  readonly choice?: number;
}

/** A tool call's start, a piece of it, or the whole. */
export interface ChatToolCallFields extends Partial<TurnToolCall> {
  /** The number of the call within its choice; default 0. */
  readonly index?: number;
}

export interface ChatTurnOptions extends ChatChunkFields, TurnParts {
  /** Default `tool_calls` if there are any, else `stop`; `null` leaves the turn unfinished. */
  readonly finish?: ChatFinishReason | null;
}

function chunk(choices: readonly ChatChunkChoice[], fields: Omit<ChatChunkFields, 'choice'>): ChatCompletionChunk {
  const envelope = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: CREATED, model: MODEL };
  return { ...envelope, choices, ...fields };
}

function delta(content: ChatDelta, { choice = 0, ...fields }: ChatChunkFields = {}): ChatCompletionChunk {
  return chunk([{ index: choice, delta: content, finish_reason: null }], fields);
}

function toolCall(
  { index = 0, name, id, arguments: args }: ChatToolCallFields,
  fields?: ChatChunkFields,
): ChatCompletionChunk {
  const text = argumentsText(args);
  const call: ChatToolCallDelta =
    name === undefined
      ? { index, ...(id === undefined ? {} : { id }), function: { arguments: text } }
      : { index, id: id ?? `call_${index + 1}`, type: 'function', function: { name, arguments: text } };
  return delta({ tool_calls: [call] }, fields);
}

function finish(reason: ChatFinishReason, { choice = 0, ...fields }: ChatChunkFields = {}): ChatCompletionChunk {
  return chunk([{ index: choice, delta: {}, finish_reason: reason }], fields);
}

function usage(tokens: ChatUsage, { choice: _, ...fields }: ChatChunkFields = {}): ChatCompletionChunk {
  const total_tokens = (tokens.prompt_tokens ?? 0) + (tokens.completion_tokens ?? 0);
  return chunk([], { usage: { total_tokens, ...tokens }, ...fields });
}

function turn(text: TurnText, options: ChatTurnOptions = {}): ChatCompletionChunk[] {
  const { reasoning, refusal, toolCalls = [], usage: tokens, finish: reason, ...fields } = options;
  const end = reason === undefined ? (toolCalls.length > 0 ? 'tool_calls' : 'stop') : reason;
  return [
    delta({ role: 'assistant', content: '' }, fields),
    ...piecesOf(reasoning).map((piece) => delta({ reasoning_content: piece }, fields)),
    ...piecesOf(text).map((piece) => delta({ content: piece }, fields)),
    ...piecesOf(refusal).map((piece) => delta({ refusal: piece }, fields)),
    ...toolCalls.flatMap(({ arguments: args, ...call }, index) => [
      toolCall({ ...call, index }, fields),
      ...argumentPieces(args).map((piece) => toolCall({ index, arguments: piece }, fields)),
    ]),
    ...(end === null ? [] : [finish(end, fields)]),
    ...(tokens ? [usage(tokens, fields)] : []),
  ];
}

/**
 * Builds events of `chatCompletions`. The same call gives an equal event: ids, times and models are fixed, unless the
 * last argument says otherwise; it may add any field of the chunk, a gateway's receipt for one.
 *
 * @example
 * ```ts
 * import { chat } from 'rx-llm/testing';
 *
 * const values = {
 *   r: chat.role(),
 *   h: chat.text('Hello'),
 *   t: chat.toolCall({ name: 'weather', arguments: { city: 'Oslo' } }),
 *   e: chat.finish('tool_calls', { provider: 'acme', cost_usd: 0.002 }),
 *   u: chat.usage({ prompt_tokens: 9, completion_tokens: 4 }),
 * };
 * ```
 */
export const chat = {
  /** The first chunk of an answer, which says who speaks and nothing else. */
  role: (fields?: ChatChunkFields): ChatCompletionChunk => delta({ role: 'assistant', content: '' }, fields),
  text: (content: string, fields?: ChatChunkFields): ChatCompletionChunk => delta({ content }, fields),
  /** In the field `reasoning_content`; `chat.delta({ reasoning: … })` is what other servers send. */
  reasoning: (text: string, fields?: ChatChunkFields): ChatCompletionChunk =>
    delta({ reasoning_content: text }, fields),
  refusal: (refusal: string, fields?: ChatChunkFields): ChatCompletionChunk => delta({ refusal }, fields),
  /** With a name the start of a call, or the whole of it if its arguments are given; without one a continuation. */
  toolCall,
  /** A piece of the arguments of call `index`, which is 0 unless it is given. */
  toolArguments: (
    text: string,
    { index = 0, ...fields }: ChatChunkFields & { readonly index?: number } = {},
  ): ChatCompletionChunk => toolCall({ index, arguments: text }, fields),
  annotation: (annotation: ChatAnnotation, fields?: ChatChunkFields): ChatCompletionChunk =>
    delta({ annotations: [annotation] }, fields),
  /** Any other delta. */
  delta,
  finish,
  /** A chunk without choices; `total_tokens` is added up where it is not given. */
  usage,
  /** A bare error frame; the client raises it as a `StreamEventError`. */
  error: (error: string | ChatErrorBody): ChatCompletionChunk => ({
    error: typeof error === 'string' ? { message: error } : error,
  }),
  /**
   * A whole answer: the role, then reasoning, text, refusal and tool calls in pieces, the finish reason, and the usage
   * if it is given. All chunks have one id.
   */
  turn,
} as const;
