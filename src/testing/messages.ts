import type {
  ContentBlock,
  MessageObject,
  MessageStopReason,
  MessageUsage,
  TextCitation,
} from '../endpoints/messages/items.js';
import type {
  ContentBlockDelta,
  ContentBlockDeltaEvent,
  ContentBlockStartEvent,
  ContentBlockStopEvent,
  MessageDeltaEvent,
  MessageErrorBody,
  MessageErrorEvent,
  MessagePingEvent,
  MessageStartEvent,
  MessageStopEvent,
  MessageStreamEvent,
} from '../endpoints/messages/wire.js';
import { argumentPieces, MODEL, piecesOf, type TurnParts, type TurnText, type TurnToolCall } from './turn.js';

/** The block that an event belongs to. */
export interface MessagePlace {
  /** Default 0. */
  readonly index?: number;
}

export interface MessageTurnOptions extends Omit<TurnParts, 'refusal'> {
  /** The whole message's; its input side is in the first event, the rest at the end. */
  readonly usage?: MessageUsage;
  /** Default `tool_use` if there are tool calls, else `end_turn`. */
  readonly finish?: MessageStopReason;
  /** Fields of the message in its first event: `id`, `model`… */
  readonly message?: Partial<MessageObject>;
}

function start({ usage, ...message }: Partial<MessageObject> = {}): MessageStartEvent {
  return {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: MODEL,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      ...message,
      usage: { input_tokens: 1, output_tokens: 1, ...usage },
    },
  };
}

function blockStart(block: ContentBlock, { index = 0 }: MessagePlace = {}): ContentBlockStartEvent {
  return { type: 'content_block_start', index, content_block: block };
}

function delta(content: ContentBlockDelta, { index = 0 }: MessagePlace = {}): ContentBlockDeltaEvent {
  return { type: 'content_block_delta', index, delta: content };
}

function blockStop({ index = 0 }: MessagePlace = {}): ContentBlockStopEvent {
  return { type: 'content_block_stop', index };
}

function toolCall({ name, id, arguments: args }: TurnToolCall, at: MessagePlace = {}): ContentBlockStartEvent {
  const input: unknown = typeof args === 'string' ? JSON.parse(args || '{}') : (args ?? {});
  return blockStart({ type: 'tool_use', id: id ?? `toolu_${(at.index ?? 0) + 1}`, name, input }, at);
}

function finish(reason: MessageStopReason, usage: MessageUsage = { output_tokens: 1 }): MessageDeltaEvent {
  return { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage };
}

function turn(text: TurnText, options: MessageTurnOptions = {}): MessageStreamEvent[] {
  const { reasoning, toolCalls = [], usage = {}, message = {} } = options;
  const blocks: { readonly block: ContentBlock; readonly deltas: readonly ContentBlockDelta[] }[] = [];
  if (reasoning !== undefined) {
    blocks.push({
      block: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...piecesOf(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking }) as const),
        { type: 'signature_delta', signature: 'signature' },
      ],
    });
  }
  const texts = piecesOf(text);
  if (texts.length > 0) {
    blocks.push({
      block: { type: 'text', text: '' },
      deltas: texts.map((piece) => ({ type: 'text_delta', text: piece }) as const),
    });
  }
  toolCalls.forEach(({ name, id, arguments: args }, index) => {
    blocks.push({
      block: { type: 'tool_use', id: id ?? `toolu_${index + 1}`, name, input: {} },
      deltas: argumentPieces(args).map((partial_json) => ({ type: 'input_json_delta', partial_json }) as const),
    });
  });

  const { output_tokens = 1, ...input } = usage;
  return [
    start({ ...message, usage: { ...input, output_tokens: 1 } }),
    ...blocks.flatMap(({ block, deltas }, index) => [
      blockStart(block, { index }),
      ...deltas.map((content) => delta(content, { index })),
      blockStop({ index }),
    ]),
    finish(options.finish ?? (toolCalls.length > 0 ? 'tool_use' : 'end_turn'), { ...usage, output_tokens }),
    { type: 'message_stop' },
  ];
}

/**
 * Builds events of `messages`. The same call gives an equal event: ids are fixed, the block is the first unless the
 * last argument says otherwise.
 *
 * @example
 * ```ts
 * import { messages } from 'rx-llm/testing';
 *
 * const values = {
 *   s: messages.start({ usage: { input_tokens: 9 } }),
 *   h: messages.text('Hello'),
 *   t: messages.toolCall({ name: 'weather' }, { index: 1 }),
 *   a: messages.toolArguments('{"city":"Oslo"}', { index: 1 }),
 *   f: messages.finish('tool_use', { output_tokens: 4 }),
 *   e: messages.stop(),
 * };
 * ```
 */
export const messages = {
  start,
  /** Opens any block. */
  blockStart,
  blockStop,
  text: (text: string, at?: MessagePlace): ContentBlockDeltaEvent => delta({ type: 'text_delta', text }, at),
  reasoning: (thinking: string, at?: MessagePlace): ContentBlockDeltaEvent =>
    delta({ type: 'thinking_delta', thinking }, at),
  /** The signature of a thinking block, whole. */
  signature: (signature: string, at?: MessagePlace): ContentBlockDeltaEvent =>
    delta({ type: 'signature_delta', signature }, at),
  annotation: (citation: TextCitation, at?: MessagePlace): ContentBlockDeltaEvent =>
    delta({ type: 'citations_delta', citation }, at),
  /** Opens the block of a tool call; with the wire's placeholder `{}` unless the arguments are given. */
  toolCall,
  /** A piece of a call's arguments. */
  toolArguments: (partial_json: string, at?: MessagePlace): ContentBlockDeltaEvent =>
    delta({ type: 'input_json_delta', partial_json }, at),
  /** Any other delta. */
  delta,
  /** The stop reason and the usage so far; the message is complete at `stop`. */
  finish,
  /** The usage so far, before the stop reason is known. */
  usage: (usage: MessageUsage): MessageDeltaEvent => ({ type: 'message_delta', delta: { stop_reason: null }, usage }),
  /** The success terminator. */
  stop: (): MessageStopEvent => ({ type: 'message_stop' }),
  ping: (): MessagePingEvent => ({ type: 'ping' }),
  /** An error event, an `api_error` unless it says otherwise; the client raises it as a `StreamEventError`. */
  error: (error: string | MessageErrorBody): MessageErrorEvent => ({
    type: 'error',
    error: typeof error === 'string' ? { type: 'api_error', message: error } : error,
  }),
  /** A whole answer: every block opened, streamed in pieces and closed; the stop reason, the usage, the terminator. */
  turn,
} as const;
