import { isRetryableFailure, isRetryableStatus } from './retryable.js';

describe('isRetryableStatus', () => {
  it.each([408, 409, 425, 429, 500, 502, 503, 504, 520, 529])('says yes to %d', (status) => {
    expect(isRetryableStatus(status)).toBe(true);
  });

  it.each([200, 307, 400, 401, 402, 403, 404, 405, 410, 413, 422])('says no to %d', (status) => {
    expect(isRetryableStatus(status)).toBe(false);
    expect(isRetryableStatus(status, status)).toBe(false);
  });

  it.each([
    ['insufficient_quota', 'insufficient_quota'],
    ['enforced_spend_limit_reached', 'rate_limit_error'],
    ['billing_hard_limit_reached', 'invalid_request_error'],
    [null, 'billing_error'],
    ['exceeded_current_quota_error', undefined],
    ['budget_exceeded', undefined],
    ['insufficient_credits', undefined],
    ['usage_limit_reached', undefined],
  ])('says no to a 429 with %p, %p, whatever the server asks', (code, type) => {
    expect(isRetryableStatus(429, code, type)).toBe(false);
    expect(isRetryableStatus(429, code, type, { 'x-should-retry': 'true' })).toBe(false);
  });

  it('does what the server asks otherwise', () => {
    expect(isRetryableStatus(503, undefined, undefined, { 'x-should-retry': 'false' })).toBe(false);
    expect(isRetryableStatus(400, undefined, undefined, { 'x-should-retry': 'true' })).toBe(true);
    expect(isRetryableStatus(503, undefined, undefined, { 'x-should-retry': 'perhaps' })).toBe(true);
  });

  it('lets the status decide over a transient code', () => {
    expect(isRetryableStatus(400, 'overloaded_error')).toBe(false);
    expect(isRetryableStatus(401, null, 'api_error')).toBe(false);
    expect(isRetryableStatus(429, 'RateLimitReached')).toBe(true);
  });

  it('leaves an error body under 200 alone: such a gateway says nothing reliable', () => {
    expect(isRetryableStatus(200, 'rate_limit_exceeded')).toBe(false);
    expect(isRetryableStatus(200, 'rate_limit_exceeded', null, { 'x-should-retry': 'true' })).toBe(true);
  });
});

describe('isRetryableFailure', () => {
  it.each([
    ['overloaded_error'],
    ['rate_limit_error'],
    ['rate_limit_exceeded'],
    ['api_error'],
    ['timeout_error'],
    ['timeout'],
    ['timed_out'],
    ['vector_store_timeout'],
    ['conflict_error'],
    ['server_error'],
    ['server'],
    ['internal_server_error'],
    ['provider_overloaded'],
    ['provider_unavailable'],
    ['upstream_error'],
    ['stream_error'],
    ['insufficient_system_resource'],
    ['ThrottlingException'],
    ['RESOURCE_EXHAUSTED'],
    ['500'],
    [429],
    [502],
  ])('says yes to %p', (code) => {
    expect(isRetryableFailure(code)).toBe(true);
    expect(
      isRetryableFailure(null, typeof code === 'number' ? 'server_error' : code === '500' ? 'api_error' : code),
    ).toBe(true);
  });

  it.each([
    ['partial_stream'],
    ['invalid_request_error'],
    ['invalid_prompt'],
    ['authentication_error'],
    ['permission_denied'],
    ['not_found_error'],
    ['request_too_large'],
    ['context_length_exceeded'],
    ['content_policy_violation'],
    ['billing_error'],
    ['payment_required'],
    ['insufficient_quota'],
    ['tool_use_failed'],
    ['failed_to_download_image'],
    ['refusal'],
    ['400'],
    [400],
    [402],
    [''],
    [undefined],
  ])('says no to %p', (code) => {
    expect(isRetryableFailure(code)).toBe(false);
    if (typeof code === 'string') expect(isRetryableFailure(null, code)).toBe(false);
  });

  it('looks at the code first, then at the type', () => {
    expect(isRetryableFailure('invalid_image', 'server_error')).toBe(false);
    expect(isRetryableFailure('rate_limit_exceeded', 'invalid_request_error')).toBe(true);
    expect(isRetryableFailure('e_1234', 'overloaded_error')).toBe(true);
  });

  it('says no to partial_stream and spend limits in either place', () => {
    expect(isRetryableFailure('upstream_timeout', 'partial_stream')).toBe(false);
    expect(isRetryableFailure('partial_stream', 'server_error', 502)).toBe(false);
    expect(isRetryableFailure('rate_limit_exceeded', 'insufficient_quota', 429)).toBe(false);
  });

  it('lets the status decide where the frame gives one', () => {
    expect(isRetryableFailure('tool_use_failed', undefined, 503)).toBe(true);
    expect(isRetryableFailure('server_error', undefined, 400)).toBe(false);
  });
});
