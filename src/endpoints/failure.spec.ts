import { failureOf, reportsError } from './failure.js';

describe('a failure is read out of whatever services send for one', () => {
  test.each([
    ['wrapped', { error: { message: 'm', code: 'c', type: 't' } }, { message: 'm', code: 'c', type: 't' }],
    ['a numeric code, which is a status', { error: { message: 'm', code: 502 } }, { code: 502, status: 502 }],
    ['plain words', { error: 'words' }, { message: 'words', code: undefined }],
    ['words with a code beside them', { error: 'words', code: 'c' }, { message: 'words', code: 'c' }],
    ['flat', { type: 'error', code: 'c', message: 'm' }, { message: 'm', code: 'c', type: undefined }],
    [
      'nested under a type',
      { type: 'error', error: { type: 'overloaded_error', message: 'm' } },
      { code: 'overloaded_error', status: 529 },
    ],
    [
      'both flat and nested: the inner one',
      { type: 'error', message: 'outer', error: { message: 'inner' } },
      { message: 'inner' },
    ],
    [
      'without a wrapper',
      { object: 'error', message: 'm', type: 't', code: null },
      { message: 'm', code: 't', type: 't' },
    ],
    [
      'details',
      { error: { type: 'rate_limit_error', message: 'm', details: { error_code: 'spent' } } },
      { code: 'spent', status: 429 },
    ],
    [
      'a type in the metadata, beside a code that is a status',
      { error: { message: 'm', code: 502, metadata: { error_type: 'provider_unavailable' } } },
      { code: 502, type: 'provider_unavailable', status: 502 },
    ],
    ['detail as words', { detail: 'm' }, { message: 'm' }],
    ['detail as a list', { detail: [{ msg: 'm', loc: ['body'] }] }, { message: 'm' }],
    ['a list of one', [{ error: { message: 'm', code: 400 } }], { message: 'm', code: 400 }],
    ['a request id beside it', { error: { message: 'm' }, request_id: 'r' }, { requestId: 'r' }],
    ['headers inside', { error: { message: 'm', headers: { 'retry-after': '2' } } }, { retryAfterMs: 2000 }],
    ['nothing', null, { message: undefined, code: undefined }],
    [
      'fields of the wrong type',
      { error: { message: 5, code: {}, type: [] } },
      { message: undefined, code: undefined, type: undefined },
    ],
  ])('%s', (_, body, expected) => {
    expect(failureOf(body)).toMatchObject({ emit: false, ...expected });
  });
});

test('a status that the frame does not give follows from its type alone', () => {
  expect(failureOf({ error: { type: 'api_error' } }).status).toBe(500);
  expect(failureOf({ error: { type: 'api_error', code: 'invalid_image' } }).status).toBeUndefined();
  expect(failureOf({ error: { type: 'api_error', status_code: 429 } }).status).toBe(429);
  expect(failureOf({ error: { type: 'constructor' } }).status).toBeUndefined();
});

test('placeholders report no error', () => {
  for (const value of [null, undefined, '', false, 0, {}, []]) expect(reportsError(value)).toBe(false);
  for (const value of ['x', { message: 'x' }, [{}]]) expect(reportsError(value)).toBe(true);
});
