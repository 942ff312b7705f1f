import type { OperatorFunction } from 'rxjs';
import { tools } from '../concepts/tools.js';
import type { ChatLike, MessagesLike, ResponsesLike } from '../events.js';
import type { ToolCall } from '../tool-call.js';
import { ToolCallDrafts } from '../tool-calls.js';
import type { ChoiceConfig } from './choice.js';
import { read } from './read.js';

/**
 * Emits each call of one of your tools once, as soon as it is complete. Tools that the service runs itself are left out.
 *
 * ```text
 * source       -a--b--c--d--|     a: the call begins   b, c: pieces of its arguments   d: the finish
 * toolCalls()  -------------(x|)
 * ```
 *
 * When a call is complete differs from endpoint to endpoint:
 *
 * - Chat: when the answer is, as any piece may still belong to any call; on an error, if the choice had finished before.
 * - Messages: when its block stops, if its text is JSON; else when the stop reason is there.
 * - Responses: at the first of `output_item.done` and `arguments.done`; else at the final event.
 *
 * A call that was cut, by the token limit or by an error, is never emitted: {@link accumulateToolCalls} shows it. A call
 * that is whole but whose text is no JSON is emitted with `valid: false` and without `input`, so check `valid` before
 * running it. No schema is checked. An error of the source is passed on after the calls that were complete.
 * Unsubscribing unsubscribes from the source.
 *
 * @example
 * ```ts
 * import { concatMap, filter } from 'rxjs';
 * import { createLlmClient, toolCalls } from 'rx-llm';
 *
 * declare function run(name: string, input: unknown): Promise<string>;
 *
 * const llm = createLlmClient({ baseUrl: 'https://gateway.example/v1' });
 * llm
 *   .messages({ model: 'm', max_tokens: 1000, messages: [{ role: 'user', content: 'How is the tide?' }] })
 *   .pipe(
 *     toolCalls(),
 *     filter((call) => call.valid),
 *     concatMap(async (call) => ({ tool_use_id: call.id, content: await run(call.name, call.input) })),
 *   )
 *   .subscribe((result) => console.log(result));
 * ```
 *
 * @param config - which choice to follow, where a chat request asked for several
 */
export function toolCalls({ choice = 0 }: ChoiceConfig = {}): OperatorFunction<
  ChatLike | ResponsesLike | MessagesLike,
  ToolCall
> {
  return read(tools, (destination) => ({
    sink: {
      choice,
      drafts: new ToolCallDrafts(choice),
      completed: (draft) => destination.next(draft.toToolCall()),
      changed: () => undefined,
    },
  }));
}
