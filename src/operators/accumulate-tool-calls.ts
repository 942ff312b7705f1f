import type { OperatorFunction } from 'rxjs';
import { tools } from '../concepts/tools.js';
import type { ChatLike, MessagesLike, ResponsesLike } from '../events.js';
import { PartialJson } from '../partial-json.js';
import type { ToolCall } from '../tool-call.js';
import { ToolCallDrafts } from '../tool-calls.js';
import type { ChoiceConfig } from './choice.js';
import { read } from './read.js';

export interface AccumulateToolCallsConfig extends ChoiceConfig {
  /**
   * Show in `input` as much of the arguments as has come, instead of all at once when the call is complete. What has not
   * come yet is missing: check before use. Strings grow; keys, numbers, `true`, `false` and `null` show once they are
   * whole.
   *
   * @defaultValue false
   */
  readonly partialInput?: boolean | undefined;
}

/**
 * Emits a snapshot of all calls of your tools after each event that changed one of them, from the first name or piece of
 * arguments on. Tools that the service runs itself are left out. Nothing is emitted where there are no calls.
 *
 * ```text
 * source                 -a--b--c--d--|     a: the call begins   b, c: pieces of its arguments   d: the finish
 * accumulateToolCalls()  -w--x--y-----(z|)  z: the call is complete
 * ```
 *
 * Snapshots are plain data, and share what did not change: a call that is as it was is the same object, and so, with
 * `partialInput`, are the parts of its `input`. Render them with `key` as the identity: the `id` may come late, or be made up at
 * the end where the server sends none. {@link toolCalls} says when a call is complete. One that was cut keeps
 * `complete: false` and its raw text; one whose text is no JSON has `valid: false`.
 *
 * With `partialInput`, the work stays linear in the length of the arguments however often `input` is read. For that,
 * very large arrays and objects (beyond 512 elements or 64 keys in those that are still open) are not renewed at each piece,
 * but every so many characters.
 *
 * An error of the source is passed on. Unsubscribing unsubscribes from the source.
 *
 * @example
 * ```ts
 * import { accumulateToolCalls, createLlmClient } from 'rx-llm';
 *
 * const llm = createLlmClient({ baseUrl: 'https://gateway.example/v1' });
 * llm
 *   .chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'How is the tide?' }] })
 *   .pipe(accumulateToolCalls({ partialInput: true }))
 *   .subscribe((calls) => {
 *     for (const call of calls) console.log(call.key, call.name, call.input, call.complete);
 *   });
 * ```
 *
 * @param config - which choice to follow, and whether `input` grows with the stream
 */
export function accumulateToolCalls({
  choice = 0,
  partialInput = false,
}: AccumulateToolCallsConfig = {}): OperatorFunction<ChatLike | ResponsesLike | MessagesLike, readonly ToolCall[]> {
  return read(tools, (destination) => {
    const drafts = new ToolCallDrafts(choice, partialInput ? () => new PartialJson() : undefined);
    return {
      sink: {
        choice,
        drafts,
        completed: () => undefined,
        changed: () => destination.next(drafts.snapshot()),
      },
    };
  });
}
