import type { ReaderFactory } from '../../concepts/concept.js';
import type { ToolCallSink } from '../../concepts/tools.js';
import { isCut } from '../../finish-reason.js';
import { fields, list, text } from '../fields.js';
import { choiceOf } from './choices.js';
import { ChatToolMerge } from './tool-merge.js';
import type { ChatCompletionChunk } from './wire.js';

/** Reads `tool_calls`, and the older `function_call`. Calls are complete when the answer is. */
export const chatTools: ReaderFactory<ChatCompletionChunk, ToolCallSink> = (sink) => {
  const merge = new ChatToolMerge(sink.drafts);
  let answer = '';
  let finish = '';

  return {
    next(event) {
      const choices = list(event.choices);
      for (let i = 0; i < choices.length; i++) {
        const choice = fields(choices[i]);
        if (choiceOf(choice) !== sink.choice) continue;
        const delta = fields(choice.delta);
        const entries = list(delta.tool_calls);
        for (let j = 0; j < entries.length; j++) merge.next(fields(entries[j]));
        if (delta.function_call != null) merge.next({ index: 0, function: delta.function_call });
        // A message in the place of deltas; beside them it only repeats what they said.
        if (merge.calls.length === 0 && choice.message && (!choice.delta || choice.finish_reason))
          for (const entry of list(fields(choice.message).tool_calls)) merge.next(fields(entry));
        if (finish === '') finish = text(choice.finish_reason);
      }
      if (answer === '') answer = text(event.id);
      if (sink.drafts.dirty) sink.changed();
    },

    end(error) {
      if (error !== undefined && (finish === '' || finish === 'error')) return;
      const cut = isCut(finish);
      const last = merge.calls.at(-1)?.draft;
      for (const { draft } of merge.ordered) {
        if (draft.name === '') continue;
        if (draft.id === '') draft.set('id', merge.madeUpId(draft, answer));
        if (!cut) draft.completeAnyway();
        // Of a call that was begun before another nothing is missing. Text that is JSON is whole; no text, or one that
        // is free, does not tell.
        else if (draft !== last || draft.hasJsonText()) draft.completeIfValid();
        if (draft.complete) sink.completed(draft);
      }
      if (sink.drafts.dirty) sink.changed();
    },
  };
};
