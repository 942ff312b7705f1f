import fc from 'fast-check';
import { failureOf } from '../endpoints/failure.js';
import {
  ConnectionError,
  EventTooLargeError,
  HttpResponseError,
  MalformedEventError,
  StreamEventError,
  StreamTimeoutError,
  TruncatedStreamError,
  type LlmErrorDetails,
  type LlmStreamError,
} from '../errors.js';
import type { EndpointName } from '../events.js';
import { isRetryableFailure } from '../retryable.js';
import { errorBody, errorFrame, statusFor } from './error-frame.js';

const http = (status: number, details?: LlmErrorDetails): HttpResponseError =>
  new HttpResponseError(`chatCompletions: https://10.0.0.1/v1/x answered ${status}: no. Check \`baseUrl\`.`, {
    status,
    code: status,
    ...details,
  });
const inBand = (details: LlmErrorDetails): StreamEventError => new StreamEventError('x', details);

describe('what a reader is told', () => {
  it.each<[string, LlmStreamError, number, string, string | number, string]>([
    // The words of the gateway, if they are about the request
    ['400', http(400, { providerMessage: 'No tools here' }), 400, 'invalid_request_error', 400, 'No tools here'],
    ['404', http(404, { providerMessage: 'No model x' }), 404, 'invalid_request_error', 404, 'No model x'],
    ['429', http(429, { providerMessage: 'Slow down' }), 429, 'rate_limit_error', 429, 'Slow down'],
    ['an address', http(400, { providerMessage: 'See http://a:8/b' }), 400, 'invalid_request_error', 400, 'See …'],
    ['a failure in the stream', inBand({ providerMessage: 'Gone' }), 502, 'server_error', 'in-band', 'Gone'],
    [
      'a rate limit there',
      inBand({ code: 'rate_limit_exceeded' }),
      429,
      'rate_limit_error',
      'rate_limit_exceeded',
      'Too many requests',
    ],
    // A sentence of our own for all others
    ['400 without words', http(400), 400, 'invalid_request_error', 400, 'The request was refused'],
    ['429 without words', http(429), 429, 'rate_limit_error', 429, 'Too many requests'],
    ['503', http(503, { providerMessage: 'db-7 down' }), 503, 'server_error', 503, 'The model failed to answer'],
    ['a page', http(200, { code: undefined }), 502, 'server_error', 'http', 'The model failed to answer'],
    ['a redirect', http(302), 502, 'server_error', 'http', 'The model failed to answer'],
    ['no connection', new ConnectionError('x'), 502, 'server_error', 'connection', 'The model could not be reached'],
    ['a timeout', new StreamTimeoutError('x', 'idle'), 504, 'timeout_error', 'timeout', 'The answer took too long'],
    ['a cut', new TruncatedStreamError('x', { status: 200 }), 502, 'server_error', 'truncated', 'The answer broke off'],
    ['nonsense', new MalformedEventError('x'), 502, 'server_error', 'malformed', 'The answer could not be read'],
  ])('of %s', (_name, error, status, type, code, message) => {
    expect(statusFor(error)).toBe(status);
    expect(errorBody(error, undefined)).toMatchObject({ type, code });
    expect(errorBody(error, undefined).message).toContain(message);
  });

  it.each([
    http(401, { type: 'authentication_error', code: 'invalid_api_key', providerMessage: 'Bad key sk-…x1' }),
    http(403, { providerMessage: 'Not your project' }),
    http(429, { code: 'insufficient_quota', providerMessage: 'Pay first' }),
    inBand({ status: 200, code: 'invalid_api_key', type: 'invalid_request_error', providerMessage: 'Bad key' }),
    inBand({ status: 402, type: 'billing_error', providerMessage: 'Pay first' }),
  ])("nothing of this server's own key and account: %s", (error) => {
    const message = 'The service could not answer this request';
    expect(statusFor(error)).toBe(502);
    expect(errorBody(error, undefined)).toEqual({ message, type: 'server_error', code: 'access_denied' });
    expect(errorBody(error, 'messages')).toEqual({ message, type: 'permission_error', code: 'access_denied' });
  });

  it('in the words of Messages there', () => {
    const typeOf = (error: LlmStreamError): string => errorBody(error, 'messages').type;
    expect([400, 404, 413, 422, 429, 500, 503, 504, 529].map((status) => typeOf(http(status)))).toEqual([
      'invalid_request_error',
      'not_found_error',
      'request_too_large',
      'invalid_request_error',
      'rate_limit_error',
      'api_error',
      'api_error',
      'timeout_error',
      'overloaded_error',
    ]);
    expect(typeOf(http(429, { type: 'tokens' }))).toBe('rate_limit_error');
    expect(typeOf(inBand({ type: 'overloaded_error' }))).toBe('overloaded_error');
  });
});

describe('a frame', () => {
  const endpoints = fc.constantFrom<(EndpointName | undefined)[]>(
    'chatCompletions',
    'responses',
    'messages',
    'images',
    undefined,
  );
  const word = fc.option(
    fc.constantFrom('server_error', 'rate_limit_error', 'invalid_x', 'insufficient_quota', 'odd', 'api_error', 'auth'),
    { nil: undefined },
  );
  const details: fc.Arbitrary<LlmErrorDetails> = fc.record({
    retryable: fc.boolean(),
    type: word,
    code: fc.oneof(word, fc.constantFrom(400, 401, 409, 429, '429', 500, 529, 1113)),
    status: fc.constantFrom(undefined, 200, 302, 400, 401, 408, 409, 429, 500, 503, 529),
  });
  const error = fc.tuple(details, fc.nat({ max: 6 })).map(([given, which]): LlmStreamError => {
    switch (which) {
      case 0:
        return new HttpResponseError('x', given);
      case 1:
        return new StreamEventError('x', given);
      case 2:
        return new TruncatedStreamError('x', given);
      case 3:
        return new MalformedEventError('x', given);
      case 4:
        return new EventTooLargeError('x', given);
      case 5:
        return new ConnectionError('x', given);
      default:
        return new StreamTimeoutError('x', 'idle', given);
    }
  });

  it('lets its reader conclude whether to send the same again, as the error says', () => {
    fc.assert(
      fc.property(endpoints, error, (endpoint, failed) => {
        const { code, type, status } = failureOf(JSON.parse(errorFrame(endpoint, failed, 0).data ?? '') as unknown);
        expect(isRetryableFailure(code, type, status)).toBe(failed.retryable);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    [new MalformedEventError('x'), 'invalid_response_error', 'malformed'],
    [inBand({ type: 'server_error', code: 'odd' }), 'invalid_request_error', 'odd'],
    [http(500), 'invalid_request_error', 'http'],
    [http(401), 'server_error', 'access_denied'],
    [inBand({ code: 'odd', retryable: true }), 'server_error', 'odd'],
    [inBand({ code: 'invalid_state', status: 503, retryable: true }), 'server_error', 'in-band'],
    [inBand({ code: 409, retryable: true }), 'server_error', 409],
  ])('keeps of the words what is true: %#', (failed, type, code) => {
    expect(JSON.parse(errorFrame('chatCompletions', failed, 0).data ?? '')).toMatchObject({ error: { type, code } });
  });
});
