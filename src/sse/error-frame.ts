import { failureOf, STATUS_OF_TYPE } from '../endpoints/failure.js';
import { text } from '../endpoints/fields.js';
import { isLlmStreamError, type LlmErrorKind, type LlmStreamError } from '../errors.js';
import type { EndpointName } from '../events.js';
import { isRetryableFailure, isSpent } from '../retryable.js';
import type { ServerSentEvent } from './server-sent-event.js';

/** What may be told of a failure to somebody else's client. */
export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly code: string | number;
}

/** 401 and its like speak of our key, not of the reader's: a page that gets one would send its user to the login. */
const OUR_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 407]);
const OUR_KEY = /api_?key|authentication|permission_(error|denied)/i;

/** The failure is about this server's key or account, which is nobody else's business. */
function isOurOwn(error: LlmStreamError): boolean {
  const { status, code, type } = error;
  return OUR_STATUSES.has(status ?? 0) || isSpent(code, type) || OUR_KEY.test(`${String(code)} ${String(type)}`);
}

/** The HTTP status to tell a failure with. */
export function statusFor(error: unknown): number {
  if (!isLlmStreamError(error)) return 500;
  if (error.kind === 'timeout') return 504;
  const { status = 0, code, type } = error;
  if (isOurOwn(error)) return 502;
  if (status >= 400 && status < 600) return status;
  return /rate.?limit|too_?many/i.test(`${String(code)} ${String(type)}`) ? 429 : 502;
}

/**
 * What a reader is told, in the reader's terms. The message of an error is for whoever runs this server: it names the
 * gateway's address, gives advice on the configuration, and may quote a body. Of an error that is none of this
 * library's nothing is known, and so nothing is told.
 *
 * @param endpoint - whose words the types are; all but Messages have the same
 */
export function errorBody(error: unknown, endpoint: EndpointName | undefined): ErrorBody {
  const failed = endpoint === 'messages' ? 'api_error' : 'server_error';
  if (!isLlmStreamError(error)) return { message: 'The stream failed', type: failed, code: 'internal_error' };
  return { message: messageOf(error), type: typeOf(error, endpoint) ?? failed, code: codeOf(error) };
}

/**
 * A frame has no status and no header beside it: its type and code are all from which a reader can conclude whether to
 * send the same again. Those of the gateway stay as far as that comes out right.
 */
function bodyOfFrame(error: unknown, endpoint: EndpointName | undefined): ErrorBody {
  const told = errorBody(error, endpoint);
  if (!isLlmStreamError(error)) return told;
  const { kind, retryable } = error;
  // Of another copy it may be missing.
  if (typeof retryable !== 'boolean' || readsRetryable(told, endpoint) === retryable) return told;
  const passing = endpoint === 'messages' ? 'api_error' : 'server_error';
  const renamed = { ...told, type: retryable ? passing : permanent(kind, endpoint) };
  return readsRetryable(renamed, endpoint) === retryable ? renamed : { ...renamed, code: kind };
}

/** What the client of this library concludes from it; on Messages there is no code. */
function readsRetryable({ type, code }: ErrorBody, endpoint: EndpointName | undefined): boolean {
  const read = failureOf({ error: endpoint === 'messages' ? { type } : { type, code } });
  return isRetryableFailure(read.code, read.type, read.status);
}

function permanent(kind: LlmErrorKind, endpoint: EndpointName | undefined): string {
  const unreadable = endpoint !== 'messages' && (kind === 'malformed' || kind === 'limit');
  return unreadable ? 'invalid_response_error' : 'invalid_request_error';
}

function typeOf(error: LlmStreamError, endpoint: EndpointName | undefined): string | undefined {
  const { type } = error;
  const ofMessages = endpoint === 'messages';
  if (isOurOwn(error)) return ofMessages ? 'permission_error' : 'server_error';
  if (type !== undefined && (!ofMessages || STATUS_OF_TYPE.has(type))) return type;
  const status = statusFor(error);
  if (status === 429) return 'rate_limit_error';
  if (status === 408 || status === 504) return 'timeout_error';
  if (ofMessages) for (const [name, itsOwn] of STATUS_OF_TYPE) if (itsOwn === status) return name;
  return status < 500 ? 'invalid_request_error' : undefined;
}

function codeOf(error: LlmStreamError): string | number {
  const { kind, status, code } = error;
  if (isOurOwn(error)) return 'access_denied';
  // The status of a redirect is none for a failure.
  return code === undefined || (code === status && status < 400) ? kind : code;
}

const FAILED = 'The model failed to answer';
const NEUTRAL: Readonly<Partial<Record<LlmErrorKind, string>>> = {
  truncated: 'The answer broke off before it was complete',
  malformed: 'The answer could not be read',
  limit: 'The answer could not be read',
  timeout: 'The answer took too long',
  connection: 'The model could not be reached',
};

function messageOf(error: LlmStreamError): string {
  const { kind, status = 0 } = error;
  const words = text(error.providerMessage);
  if (isOurOwn(error)) return 'The service could not answer this request';
  const aboutRequest = status >= 400 && status < 500;
  if (words && (kind === 'in-band' || aboutRequest)) return words.replace(/https?:\/\/\S+/g, '…');
  if (statusFor(error) === 429) return 'Too many requests';
  return kind === 'http' && aboutRequest ? 'The request was refused' : (NEUTRAL[kind] ?? FAILED);
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
  const { message, type, code } = bodyOfFrame(error, endpoint);
  switch (endpoint) {
    case 'chatCompletions':
      return { data: JSON.stringify({ error: { message, type, code } }) };
    case 'responses': {
      // Flat as it is documented, and nested as some gateways have it: not every client raises both.
      const flat = { code: String(code), message, param: null };
      const event = { type: 'error', ...flat, error: { type, ...flat }, sequence_number: sequenceNumber };
      return { type: 'error', data: JSON.stringify(event) };
    }
    case 'messages':
      return { type: 'error', data: JSON.stringify({ type: 'error', error: { type, message } }) };
    default:
      return { type: 'error', data: JSON.stringify({ type: 'error', error: { message, type, code } }) };
  }
}
