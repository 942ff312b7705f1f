import type { Reader } from '../../concepts/concept.js';
import type { FinishSink } from '../../concepts/finish.js';
import { finishReasonOf } from '../../finish-reason.js';
import { fields, list, text } from '../fields.js';
import { finalResponse } from './item-texts.js';

/** A call that the client has to answer. */
const isCall = (item: unknown): boolean => /^(function|custom_tool)_call$/.test(text(fields(item).type));

/** The reason of an incomplete answer, else the status that the final event is named after. */
export function responsesFinish(sink: FinishSink): Reader<object> {
  let called = false;
  let finished = false;
  return {
    next(wire) {
      const event = fields(wire);
      called ||= isCall(event.item);
      const response = finalResponse(event);
      if (!response || finished) return;
      finished = true;
      const status = event.type === 'response.done' ? text(response.status) || 'completed' : text(event.type).slice(9);
      const raw = text(fields(response.incomplete_details).reason) || status;
      sink(finishReasonOf(raw, called || list(response.output).some(isCall)), 0);
    },
  };
}
