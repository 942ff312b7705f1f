import type { OperatorFunction } from 'rxjs';
import { refusal } from '../concepts/refusal.js';
import type { ChatLike, ResponsesLike } from '../events.js';
import { pieces, type ChoiceConfig } from './choice.js';

/**
 * Emits each piece of the words with which the model refuses. They are no part of the text: an answer that consists of
 * a refusal has an empty one.
 *
 * Pieces are never empty; what only a closing event or the final object holds is emitted as a last piece. Messages has
 * no words for a refusal but the stop reason: see {@link finishReason}.
 *
 * Completes and errors with its source. Unsubscribing unsubscribes from the source, and so aborts the request.
 *
 * ```text
 * source             --r--s---|     r: 'I can not ', s: 'help with that.'
 * refusalDeltas()    --r--s---|
 * ```
 *
 * @example
 * ```ts
 * import { createLlmClient, refusalDeltas } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
 *   .pipe(refusalDeltas())
 *   .subscribe((piece) => console.warn(piece));
 * ```
 *
 * @param config - which choice to follow, where a chat request asked for several
 */
export function refusalDeltas(config?: ChoiceConfig): OperatorFunction<ChatLike | ResponsesLike, string> {
  return pieces(refusal, config);
}
