import type { Reader } from '../../concepts/concept.js';
import type { FinishSink } from '../../concepts/finish.js';
import { finishReasonOf } from '../../finish-reason.js';
import { fields, list, text } from '../fields.js';

const isCall = (block: unknown): boolean => fields(block).type === 'tool_use';

/** The stop reason comes in `message_delta`; early ones may have none, and `message_start` may have it already. */
export function messagesFinish(sink: FinishSink): Reader<object> {
  let called = false;
  let finished = false;
  return {
    next(event) {
      const { delta, content_block, message } = fields(event);
      called ||= isCall(content_block) || (message !== undefined && list(fields(message).content).some(isCall));
      const raw = text(fields(delta).stop_reason) || text(fields(message).stop_reason);
      if (!raw || finished) return;
      finished = true;
      sink(finishReasonOf(raw, called), 0);
    },
  };
}
