import type { Reader } from '../../concepts/concept.js';
import type { FinishSink } from '../../concepts/finish.js';
import { finishReasonOf } from '../../finish-reason.js';
import { fields, list, text, type Fields } from '../fields.js';
import { choiceOf } from './choices.js';

/** Some servers pad every delta with calls that name nothing. */
function calls({ tool_calls, function_call }: Fields): boolean {
  if (!tool_calls && !function_call) return false;
  return [...list(tool_calls), { function: function_call }].some((entry) => {
    const { id, function: called, custom } = fields(entry);
    return Boolean(id || fields(called).name || fields(custom).name);
  });
}

/** The first finish reason of a choice wins: some servers send a second one, with the usage. */
export function chatFinish(sink: FinishSink): Reader<object> {
  const called = new Set<number>();
  const finished = new Set<number>();
  const finish = (choice: number, reason: unknown): void => {
    const raw = text(reason);
    if (!raw || finished.has(choice)) return;
    finished.add(choice);
    sink(finishReasonOf(raw, called.has(choice)), choice);
  };
  return {
    next(event) {
      const { choices, finish_reason } = fields(event);
      for (const item of list(choices)) {
        const entry = fields(item);
        const choice = choiceOf(entry);
        if (!called.has(choice) && (calls(fields(entry.delta)) || calls(fields(entry.message)))) called.add(choice);
        finish(choice, entry.finish_reason);
      }
      // Of error frames: there it may stand at the top.
      finish(0, finish_reason);
    },
  };
}
