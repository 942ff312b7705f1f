import type { OperatorFunction } from 'rxjs';
import { reasoning } from '../concepts/reasoning.js';
import type { ChatLike, MessagesLike, ResponsesLike } from '../events.js';
import { pieces, type ChoiceConfig } from './choice.js';

/**
 * Emits each piece of the model's reasoning, as far as the service shows it: `reasoning_content`, `reasoning` and the
 * like on chat, raw reasoning or its summary on Responses, thinking blocks on Messages.
 *
 * Where the same reasoning comes in several forms (raw and summarised, or the same words in two fields of one delta),
 * the form that is seen first is followed for the whole output item, and nothing is emitted twice. Pieces are never
 * empty; what only a closing event or the final object holds is emitted as a last piece. Encrypted reasoning and
 * signatures are not emitted: `accumulateMessage()` keeps them.
 *
 * Completes and errors with its source. Unsubscribing unsubscribes from the source, and so aborts the request.
 *
 * ```text
 * source               --t--t----x---|     t: 'hm ' as reasoning, x: 'Yes.' as text
 * reasoningDeltas()    --a--a--------|     a: 'hm '
 * ```
 *
 * @example
 * ```ts
 * import { createLlmClient, reasoningDeltas } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .responses({ model: 'm', input: 'Why?', reasoning: { summary: 'auto' } })
 *   .pipe(reasoningDeltas())
 *   .subscribe((thought) => console.log(thought));
 * ```
 *
 * @param config - which choice to follow, where a chat request asked for several
 */
export function reasoningDeltas(
  config?: ChoiceConfig,
): OperatorFunction<ChatLike | ResponsesLike | MessagesLike, string> {
  return pieces(reasoning, config);
}
