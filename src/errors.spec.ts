import { expectTypeOf } from 'expect-type';
import { inspect } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { ConnectionError, isLlmStreamError, StreamEventError, StreamTimeoutError, type LlmStreamError } from 'rx-llm';

describe('isLlmStreamError', () => {
  it('knows the errors of this copy, and narrows', () => {
    const error: unknown = new StreamTimeoutError('No byte came for 5 s', 'idle');
    expect(isLlmStreamError(error)).toBe(true);
    expect(isLlmStreamError(new ConnectionError('refused'))).toBe(true);
    if (isLlmStreamError(error)) expectTypeOf(error).toEqualTypeOf<LlmStreamError>();
  });

  it('knows those of another copy and of another realm, by their shape', () => {
    const shape = { name: 'HttpResponseError', kind: 'http', retryable: true, tokenSeen: false };
    const elsewhere: unknown = runInContext('new Error("HTTP 503")', createContext());
    expect(isLlmStreamError(Object.assign(new Error('HTTP 503'), shape))).toBe(true);
    expect(isLlmStreamError(Object.assign(elsewhere as object, shape))).toBe(true);
  });

  it.each([
    ['another error', new Error('no')],
    ['an error with a kind of its own', Object.assign(new Error('no'), { kind: 'http' })],
    ['what an error is in JSON', new ConnectionError('refused').toJSON()],
    ['nothing', undefined],
    ['null', null],
    ['a word', 'http'],
  ])('does not take %s for one', (_, value) => {
    expect(isLlmStreamError(value)).toBe(false);
  });
});

describe('providerMessage', () => {
  it('is there to be read, and is left out of what is printed', () => {
    const error = new StreamEventError('It failed', { providerMessage: 'Overloaded' });
    expect(error.providerMessage).toBe('Overloaded');
    expect(JSON.stringify(error) + inspect(error)).not.toContain('Overloaded');
    expect(new StreamEventError('It failed').providerMessage).toBeUndefined();
  });
});
