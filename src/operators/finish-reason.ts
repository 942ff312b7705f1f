import type { OperatorFunction } from 'rxjs';
import { finish } from '../concepts/finish.js';
import type { ChatLike, MessagesLike, ResponsesLike } from '../events.js';
import type { FinishReason } from '../finish-reason.js';
import type { ChoiceConfig } from './choice.js';
import { read } from './read.js';

/**
 * Emits why the answer ended, once, as soon as it is known: in one vocabulary, with the wire's word beside it.
 *
 * The first finish reason of a choice stands. Where client-side tools were called though the wire says no more than
 * `stop`, `completed` or `end_turn`, the reason is `tool_calls`. A failed answer gives its reason, if it names one,
 * before the error: `{ reason: 'error', raw: 'failed' }` for `response.failed`. An answer that names none gives nothing.
 *
 * Completes and errors with its source, not with the finish reason: usage may follow it. Unsubscribing unsubscribes from
 * the source, and so aborts the request.
 *
 * ```text
 * source            --t----t----f--u--|     t: text, f: finish reason 'length', u: usage
 * finishReason()    ------------a-----|     a: { reason: 'length', raw: 'length' }
 * ```
 *
 * @example
 * ```ts
 * import { createLlmClient, finishReason } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .chatCompletions({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] })
 *   .pipe(finishReason())
 *   .subscribe(({ reason }) => console.log(reason === 'length' ? 'cut short' : reason));
 * ```
 *
 * @param config - which choice to follow, where a chat request asked for several
 */
export function finishReason({ choice = 0 }: ChoiceConfig = {}): OperatorFunction<
  ChatLike | ResponsesLike | MessagesLike,
  FinishReason
> {
  return read(finish, (destination) => ({
    failures: true,
    sink(reason: FinishReason, of: number) {
      if (of === choice) destination.next(reason);
    },
  }));
}
