import type { Dialect, GatewayEndpoint, Problem } from './protocol.js';
import type { Json } from './json.js';

interface Words {
  /** Gateway A: `error.metadata.error_type`. */
  readonly a: string;
  /** Gateway B and OpenAI: `error.type`. */
  readonly b: string;
  /** Messages: `error.type`. */
  readonly messages: string;
}

const INVALID: Words = { a: 'invalid_request', b: 'invalid_request_error', messages: 'invalid_request_error' };
const FAILED: Words = { a: 'server', b: 'server_error', messages: 'api_error' };
const WORDS: Readonly<Record<number, Words>> = {
  401: { a: 'authentication', b: 'authentication_error', messages: 'authentication_error' },
  402: { a: 'payment_required', b: 'billing_error', messages: 'billing_error' },
  403: { a: 'permission_denied', b: 'permission_error', messages: 'permission_error' },
  404: { a: 'not_found', b: 'not_found_error', messages: 'not_found_error' },
  408: { a: 'timeout', b: 'timeout_error', messages: 'timeout_error' },
  409: { a: 'precondition_failed', b: 'conflict_error', messages: 'conflict_error' },
  413: { a: 'payload_too_large', b: 'request_too_large', messages: 'request_too_large' },
  422: { a: 'unprocessable', b: 'invalid_request_error', messages: 'invalid_request_error' },
  429: { a: 'rate_limit_exceeded', b: 'rate_limit_error', messages: 'rate_limit_error' },
  502: { a: 'provider_unavailable', b: 'upstream_error', messages: 'api_error' },
  503: { a: 'provider_overloaded', b: 'overloaded_error', messages: 'overloaded_error' },
  504: { a: 'timeout', b: 'timeout_error', messages: 'timeout_error' },
  529: { a: 'provider_overloaded', b: 'overloaded_error', messages: 'overloaded_error' },
};

export function wordsOf(status: number): Words {
  return WORDS[status] ?? (status < 500 ? INVALID : FAILED);
}

const SAYINGS: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'No API key was given',
  402: 'Insufficient credits',
  403: 'This key may not do that',
  404: 'Not found',
  408: 'The request took too long',
  409: 'The request conflicts with another one',
  413: 'The request is too large',
  422: 'The request cannot be processed',
  429: 'Rate limit reached, try again later',
  500: 'The gateway failed',
  502: 'The provider disconnected',
  503: 'No provider is available, try again later',
  504: 'The provider did not answer in time',
  529: 'Overloaded',
};

export const sayingOf = (status: number): string => SAYINGS[status] ?? `Status ${status}`;

/** The body of an answer with an error status, as the endpoint and dialect word it. */
export function errorBody(
  problem: Problem,
  endpoint: GatewayEndpoint | undefined,
  dialect: Dialect,
  requestId: string,
): Json {
  const words = wordsOf(problem.status);
  if (endpoint === 'messages') {
    const details = problem.code && problem.code !== 'invalid_value' ? { details: { error_code: problem.code } } : {};
    return {
      type: 'error',
      error: { type: problem.type ?? words.messages, message: problem.message, ...details },
      request_id: requestId,
    };
  }
  if (dialect === 'a') {
    const metadata = {
      error_type: problem.type ?? words.a,
      ...(problem.code ? { provider_code: problem.code } : {}),
      ...(problem.param ? { param: problem.param } : {}),
    };
    return { error: { code: problem.status, message: problem.message, metadata } };
  }
  return {
    error: {
      type: problem.type ?? words.b,
      code: problem.code ?? words.a,
      message: problem.message,
      param: problem.param ?? null,
      request_id: requestId,
    },
  };
}
