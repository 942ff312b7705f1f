import type { OperatorFunction } from 'rxjs';
import { text } from '../concepts/text.js';
import type { ChatLike, MessagesLike, ResponsesLike } from '../events.js';
import { pieces, type ChoiceConfig } from './choice.js';

/**
 * Emits each piece of visible text, as soon as its event comes. Joined, they are the text of the answer.
 *
 * Pieces are never empty. Text that no delta held, but only a closing event or the final object, is emitted as a last
 * piece; what was already emitted is not repeated. Reasoning, refusals, tool arguments and transcripts of audio are no
 * text: see {@link reasoningDeltas}, {@link refusalDeltas} and {@link toolCalls}.
 *
 * Completes and errors with its source, errors of its own it has none. Unsubscribing unsubscribes from the source, and
 * so aborts the request.
 *
 * ```text
 * source          --r--H----e----l|     r: a role, H: 'Hello', e: an empty delta, l: ' world'
 * textDeltas()    -----a---------b|     a: 'Hello', b: ' world'
 * ```
 *
 * @example
 * ```ts
 * import { createLlmClient, textDeltas } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
 *   .pipe(textDeltas())
 *   .subscribe((piece) => console.log(piece));
 * ```
 *
 * @param config - which choice to follow, where a chat request asked for several
 */
export function textDeltas(config?: ChoiceConfig): OperatorFunction<ChatLike | ResponsesLike | MessagesLike, string> {
  return pieces(text, config);
}
