import type { OperatorFunction } from 'rxjs';
import { text } from '../concepts/text.js';
import type { ChatLike, MessagesLike, ResponsesLike } from '../events.js';
import type { ChoiceConfig } from './choice.js';
import { TextSoFar } from '../text-so-far.js';
import { read } from './read.js';

/**
 * Emits the text so far after each piece of it: what a view binds to. The last value is the whole text.
 *
 * It reads what {@link textDeltas} reads, and emits when that emits. Nothing is emitted for an answer without text.
 * Completes and errors with its source; on an error the last value is all the text that came. Unsubscribing
 * unsubscribes from the source, and so aborts the request.
 *
 * ```text
 * source              --H----l----w--|     pieces 'Hel', 'lo', ' world'
 * accumulateText()    --a----b----c--|     a: 'Hel', b: 'Hello', c: 'Hello world'
 * ```
 *
 * @example
 * ```ts
 * import { accumulateText, createLlmClient } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .messages({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] })
 *   .pipe(accumulateText())
 *   .subscribe((soFar) => console.log(soFar));
 * ```
 *
 * @param config - which choice to follow, where a chat request asked for several
 */
export function accumulateText({ choice = 0 }: ChoiceConfig = {}): OperatorFunction<
  ChatLike | ResponsesLike | MessagesLike,
  string
> {
  return read(text, (destination) => {
    const soFar = new TextSoFar();
    return {
      sink(piece: string, of: number) {
        if (of === choice) destination.next(soFar.add(piece));
      },
    };
  });
}
