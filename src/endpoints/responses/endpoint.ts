import type { Endpoint, Failure, Progress, TerminalTracker } from '../endpoint.js';
import { errorIn, failureOf } from '../failure.js';
import { fields, list, text } from '../fields.js';
import { responsesUsage } from './usage.js';
import type { ResponseStreamEvent } from './wire.js';

/** What opens, keeps alive or ends a stream, and shows nothing. */
const SILENT = /^(response\.(created|queued|in_progress|failed)|keepalive|ping|error)$/;
const FINAL = /^response\.(completed|incomplete|done)$/;
const ITEM = /^response\.output_item\.(added|done)$/;
const PART = /^response\.(content|reasoning|reasoning_summary)_part\.(added|done)$/;
const TEXT = /^response\.(output_text|refusal|reasoning\w*|audio(\.transcript)?|output_audio)\.(delta|done)$/;

/** A part, a delta or a `.done`: whether there is text in it, under whichever of its names. */
function holdsText(part: unknown): boolean {
  const { text: own, delta, refusal, transcript } = fields(part);
  return [own, delta, refusal, transcript, fields(delta).text].some((value) => text(value) !== '');
}

/** Messages and reasoning are announced empty; every other item is a tool call, the client's or the server's. */
function isTokenItem(item: unknown): boolean {
  const { type, content, summary, encrypted_content } = fields(item);
  if (type !== 'message' && type !== 'reasoning') return true;
  return [...list(content), ...list(summary)].some(holdsText) || text(encrypted_content) !== '';
}

function isToken(event: ResponseStreamEvent): boolean {
  const { type, item, part, response } = fields(event);
  const name = text(type);
  if (SILENT.test(name)) return false;
  if (FINAL.test(name)) return list(fields(response).output).some(isTokenItem);
  if (ITEM.test(name)) return isTokenItem(item);
  if (PART.test(name)) return holdsText(part);
  return TEXT.test(name) ? holdsText(event) : true;
}

function failure(event: ResponseStreamEvent): Failure | undefined {
  const { type, response } = fields(event);
  if (type !== 'response.failed' && (type !== 'response.done' || fields(response).status !== 'failed')) {
    return errorIn(event);
  }
  return { requestId: text(fields(response).request_id) || undefined, ...failureOf(response ?? event, true) };
}

class ResponsesTracker implements TerminalTracker<ResponseStreamEvent> {
  next(event: ResponseStreamEvent): Progress {
    switch (event.type) {
      case 'response.completed':
      case 'response.incomplete':
        return 'done';
      case 'response.done':
        return typeof event.response === 'object' ? 'done' : undefined;
      default:
        return undefined;
    }
  }

  /** Proxies send one here too; without a final event before it the answer is not whole. */
  sentinel(): Progress {
    return 'cut';
  }
}

export const responsesEndpoint: Endpoint<ResponseStreamEvent> = {
  name: 'responses',
  path: '/responses',
  isToken,
  isDelta: ({ type }) => text(type).endsWith('.delta'),
  failure,
  usage: responsesUsage,
  terminal: () => new ResponsesTracker(),
};
