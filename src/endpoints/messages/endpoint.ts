import type { Endpoint, Progress, TerminalTracker } from '../endpoint.js';
import { errorIn } from '../failure.js';
import { fields, list, text } from '../fields.js';
import { messagesUsage } from './usage.js';
import type { MessageStreamEvent } from './wire.js';

const SILENT = /^(content_block_stop|message_delta|message_stop|ping|keepalive|error)$/;

/** Text and thinking are announced empty; every other block is a tool's or a server's, and commits the model. */
function isTokenBlock(block: unknown): boolean {
  const { type, text: own, thinking } = fields(block);
  return type === 'text' ? text(own) !== '' : type === 'thinking' ? text(thinking) !== '' : true;
}

function isToken(event: MessageStreamEvent): boolean {
  const { type, message, content_block, delta } = fields(event);
  if (type === 'message_start') return list(fields(message).content).some(isTokenBlock);
  if (type === 'content_block_start') return isTokenBlock(content_block);
  if (type !== 'content_block_delta') return !SILENT.test(text(type));
  const { type: kind, text: own, thinking, signature } = fields(delta);
  if (kind === 'text_delta') return text(own) !== '';
  if (kind === 'thinking_delta') return text(thinking) !== '';
  // Where thinking is hidden, its signature is all that comes of it.
  return kind === 'signature_delta' ? text(signature) !== '' : true;
}

class MessagesTracker implements TerminalTracker<MessageStreamEvent> {
  #stopped = false;

  next(event: MessageStreamEvent): Progress {
    const { type } = event;
    if (type === 'message_stop') return 'done';
    if (type === 'message_delta') this.#stopped ||= text(fields(event.delta).stop_reason) !== '';
    else if (type === 'message_start') this.#stopped ||= text(fields(event.message).stop_reason) !== '';
    return this.#stopped ? 'enough' : undefined;
  }

  /** A stray sentinel of a proxy: means something only where nothing is missing. */
  sentinel(): Progress {
    return this.#stopped ? 'done' : undefined;
  }
}

export const messagesEndpoint: Endpoint<MessageStreamEvent> = {
  name: 'messages',
  path: '/messages',
  isToken,
  isDelta: ({ type }) => type === 'content_block_delta',
  failure: errorIn,
  usage: messagesUsage,
  terminal: () => new MessagesTracker(),
};
