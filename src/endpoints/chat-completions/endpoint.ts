import type { Endpoint, Failure, Progress, TerminalTracker } from '../endpoint.js';
import { failureOf, reportsError } from '../failure.js';
import { fields, list, text, type Fields } from '../fields.js';
import { choiceOf, MAX_CHOICES } from './choices.js';
import { chatUsage } from './usage.js';
import type { ChatCompletionChunk } from './wire.js';

/** Text, as a string or as parts; an object (Mistral's thinking, an image) counts whatever it holds. */
function shows(content: unknown): boolean {
  if (Array.isArray(content))
    return content.some((part) => !('text' in fields(part)) || text(fields(part).text) !== '');
  return text(content) !== '';
}

/** Some servers pad every delta with calls that name nothing. */
function startsCall(entry: unknown): boolean {
  const call = fields(entry);
  const { name, arguments: args, input } = { ...fields(call.custom), ...fields(call.function) };
  return [call.id, name, args, input].some((part) => (typeof part === 'object' ? part !== null : text(part) !== ''));
}

function isTokenDelta(delta: Fields): boolean {
  return (
    shows(delta.content) ||
    shows(delta.reasoning_content) ||
    shows(delta.reasoning) ||
    shows(delta.refusal) ||
    list(delta.tool_calls).some(startsCall) ||
    startsCall({ function: delta.function_call }) ||
    list(delta.reasoning_details).length > 0 ||
    list(delta.images).length > 0 ||
    list(delta.executed_tools).length > 0 ||
    text(fields(delta.audio).data) !== '' ||
    text(fields(delta.audio).transcript) !== ''
  );
}

function isToken(chunk: ChatCompletionChunk): boolean {
  const { choices, usage, error, object, x_groq } = fields(chunk);
  if (Array.isArray(choices)) {
    return choices.some((choice) => {
      const { delta, message } = fields(choice);
      return isTokenDelta(fields(delta)) || isTokenDelta(fields(message));
    });
  }
  // Something new, unless it is known to carry no content.
  return choices !== null && !usage && !error && !x_groq && object !== 'chat.completion.chunk' && !failure(chunk);
}

const ENDED = { message: 'The gateway ended the answer with finish reason "error"' };

/** What a chunk holds beside a failure, and is to be delivered before it. */
const holdsContent = (chunk: ChatCompletionChunk): boolean =>
  (Array.isArray(chunk.choices) && isToken(chunk)) || chatUsage(chunk) !== undefined;

function failure(chunk: ChatCompletionChunk): Failure | undefined {
  const { choices, error, object, usage, type, finish_reason: ended } = fields(chunk);
  if (reportsError(error)) return failureOf(chunk, holdsContent(chunk));
  for (const choice of list(choices)) {
    const { finish_reason, error: own } = fields(choice);
    if (finish_reason === 'error' || reportsError(own)) return failureOf(own ? choice : ENDED, holdsContent(chunk));
  }
  if (ended === 'error') return failureOf(ENDED, holdsContent(chunk));
  if (Array.isArray(choices)) return undefined;
  if (object === 'error' || type === 'error') return failureOf(chunk, holdsContent(chunk));
  if (choices !== undefined || usage) return undefined;
  const { code, message, detail } = fields(chunk);
  return code !== undefined || text(message) || detail ? failureOf(chunk) : undefined;
}

class ChatTracker implements TerminalTracker<ChatCompletionChunk> {
  readonly #wanted: number;
  readonly #started = new Set<number>();
  readonly #finished = new Set<number>();

  constructor(request: object) {
    this.#wanted = Number(fields(request).n) || 1;
  }

  next(chunk: ChatCompletionChunk): Progress {
    const { choices } = chunk;
    if (Array.isArray(choices)) for (const choice of choices) this.#follow(fields(choice));
    return this.#enough();
  }

  /** A sentinel without any finish reason is taken at its word: some servers send no reasons. */
  sentinel(): Progress {
    return 'done';
  }

  #follow(entry: Fields): void {
    const index = choiceOf(entry);
    if (this.#started.size < MAX_CHOICES) this.#started.add(index);
    if (text(entry.finish_reason) !== '' && this.#finished.size < MAX_CHOICES) this.#finished.add(index);
  }

  #enough(): Progress {
    return this.#finished.size >= Math.max(this.#wanted, this.#started.size) ? 'enough' : undefined;
  }
}

export const chatEndpoint: Endpoint<ChatCompletionChunk> = {
  name: 'chatCompletions',
  path: '/chat/completions',
  isToken,
  failure,
  usage: chatUsage,
  terminal: (request) => new ChatTracker(request),
};
