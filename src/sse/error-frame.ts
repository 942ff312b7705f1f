import { isLlmStreamError } from '../errors.js';
import type { EndpointName } from '../events.js';
import type { ServerSentEvent } from './server-sent-event.js';

/** What may be told of a failure to somebody else's client. */
export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly code: string | number;
}

/**
 * Our own errors keep keys, prompts and payloads out of their message, but name the gateway's address, which is nobody
 * else's business. Of any other error nothing is known, and so nothing is told.
 */
export function errorBody(error: unknown, fallbackType = 'server_error'): ErrorBody {
  if (!isLlmStreamError(error)) return { message: 'The stream failed', type: fallbackType, code: 'internal_error' };
  const { kind, type, code } = error;
  const message = error.message.replace(/^\w+: https?:\S+/, 'The gateway').replace(/https?:\/\/\S+/g, '…');
  return { message, type: type ?? (kind === 'timeout' ? 'timeout_error' : fallbackType), code: code ?? kind };
}

/**
 * The frame by which the endpoint itself tells that an answer has failed. Where the endpoint is not known it is the
 * shape that the clients of all of them take for a failure.
 */
export function errorFrame(
  endpoint: EndpointName | undefined,
  error: unknown,
  sequenceNumber: number,
): ServerSentEvent {
  switch (endpoint) {
    case 'chatCompletions':
      return { data: JSON.stringify({ error: errorBody(error) }) };
    case 'responses': {
      const { message, type, code } = errorBody(error);
      // Flat as it is documented, and nested as some gateways have it: not every client raises both.
      const flat = { code: String(code), message, param: null };
      const event = { type: 'error', ...flat, error: { type, ...flat }, sequence_number: sequenceNumber };
      return { type: 'error', data: JSON.stringify(event) };
    }
    case 'messages': {
      const { message, type } = errorBody(error, 'api_error');
      return { type: 'error', data: JSON.stringify({ type: 'error', error: { type, message } }) };
    }
    default:
      return { type: 'error', data: JSON.stringify({ type: 'error', error: errorBody(error) }) };
  }
}
