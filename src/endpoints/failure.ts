import type { Failure } from './endpoint.js';
import { retryAfterMs } from '../retry-after.js';
import { fields, list, text } from './fields.js';

/** Whether an `error` field says that something failed: gateways also send `null`, `""` and `{}` on good frames. */
export function reportsError(error: unknown): boolean {
  return typeof error === 'object' ? Object.keys(fields(error)).length > 0 : text(error) !== '';
}

/** The statuses that the Messages documentation gives for its error types; other services use the same words. */
export const STATUS_OF_TYPE: ReadonlyMap<string | undefined, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

/**
 * Reads a failure out of whatever services send for one: `{error: {…}}`, `{error: "…"}`, a bare `{code, message}`,
 * `{detail}`, `{type: "error", …}` flat or nested, a list of one. Serves the frames of a stream and HTTP bodies alike.
 */
export function failureOf(body: unknown, emit = false): Failure {
  const outer = fields(list(body)[0] ?? body);
  const inner = fields(outer.error);
  // FastAPI lists what is wrong with a request.
  const detail = fields(list(outer.detail)[0]);
  const type =
    word(inner.type) ||
    (outer.type === 'error' ? '' : word(outer.type)) ||
    // Gateways whose code is a status keep the type aside.
    word(fields(inner.metadata).error_type) ||
    undefined;
  const code = [inner.code, outer.code, fields(inner.details).error_code, type].find(isCode);
  return {
    message: [inner.message, outer.error, outer.message, outer.detail, detail.msg].map(text).find(Boolean),
    code,
    type,
    requestId: word(outer.request_id) || word(inner.request_id) || undefined,
    // `api_error` is every failure that has no type of its own: then the code, if there is one, says more.
    status:
      statusOf(inner.status_code) ??
      statusOf(code) ??
      (type === 'api_error' && code !== type ? undefined : STATUS_OF_TYPE.get(type)),
    // OpenAI puts the headers that an HTTP error would have had into the frame.
    retryAfterMs: inner.headers ? retryAfterMs(fields(inner.headers) as Record<string, string>, Date.now) : undefined,
    emit,
  };
}

/** Of an event that only reports an error, or is one without a type. */
export function errorIn(event: object): Failure | undefined {
  const { type, error } = fields(event);
  return type === 'error' || (type === undefined && reportsError(error)) ? failureOf(event) : undefined;
}

function isCode(value: unknown): value is string | number {
  return typeof value === 'number' || word(value) !== '';
}

/** What is longer is no name of anything, and has no place in a log. */
const LONGEST_WORD = 200;

function word(value: unknown): string {
  const found = text(value);
  return found.length > LONGEST_WORD ? '' : found;
}

function statusOf(value: unknown): number | undefined {
  const status = Number(value);
  return status >= 400 && status < 600 ? status : undefined;
}
