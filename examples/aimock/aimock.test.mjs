// rx-llm reads a server that knows nothing of it: @copilotkit/aimock, with its answers, its chaos and its cuts.
import { LLMock } from '@copilotkit/aimock';
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  accumulateMessage,
  accumulateText,
  createLlmClient,
  fetchTransport,
  finalUsage,
  finishReason,
  reasoningDeltas,
  retryBeforeFirstToken,
  textDeltas,
  toolCalls,
} from 'rx-llm';
import { catchError, lastValueFrom, of, take, toArray } from 'rxjs';

const SEA = 'The sea is wide, and the gulls — 海鷗 🐦 — are loud.';
const mock = new LLMock({ port: 0, chunkSize: 5 });
mock.onMessage('sea', {
  content: SEA,
  usage: { input_tokens: 7, output_tokens: 12, prompt_tokens: 7, completion_tokens: 12, total_tokens: 19 },
});
mock.onMessage('think', { content: 'Seven.', reasoning: 'Three and four make seven.' });
mock.onMessage('weather', {
  toolCalls: [
    { name: 'get_weather', arguments: '{"city":"Zürich","days":[1,2]}', id: 'call_1' },
    { name: 'get_time', arguments: '{}', id: 'call_2' },
  ],
});
mock.onMessage('refused', {
  error: { message: 'Slow down', type: 'rate_limit_error', code: 'rate_limit' },
  status: 429,
});
mock.onMessage('cut', { content: SEA }, { latency: 5, truncateAfterChunks: 4 });
mock.onMessage('hang up', { content: SEA.repeat(20) }, { latency: 5, disconnectAfterMs: 40 });
mock.onMessage('gone', { content: SEA }, { chaos: { disconnectRate: 1 } });
mock.onMessage('dropped', { content: SEA }, { chaos: { dropRate: 1 } });
mock.onMessage('limited', { content: SEA }, { chaos: { rateLimitRate: 1 } });
mock.onMessage('garbled', { content: SEA }, { chaos: { malformedRate: 1 } });
mock.onMessage('slow', { content: SEA }, { latency: 200 });

before(() => mock.start());
after(() => mock.stop());

const ask = {
  chatCompletions: (content) => ({ model: 'gpt-5', messages: [{ role: 'user', content }] }),
  responses: (content) => ({ model: 'gpt-5', input: content }),
  messages: (content) => ({ model: 'claude-sonnet-5', max_tokens: 500, messages: [{ role: 'user', content }] }),
};

for (const [endpoint, request] of Object.entries(ask)) {
  for (const [name, transport] of [
    ['undici', undefined],
    ['fetch', fetchTransport()],
  ]) {
    describe(`${endpoint}, over ${name}`, () => {
      const open = (words, options = {}) =>
        createLlmClient({ baseUrl: `${mock.url}/v1`, apiKey: 'mock', ...(transport && { transport }), ...options })[
          endpoint
        ](request(words));
      const all = (source) => lastValueFrom(source.pipe(toArray()));
      const failure = (source) => lastValueFrom(source.pipe(catchError((error) => of(error))));

      test('text, piece by piece and whole', async () => {
        const pieces = await all(open('Tell me of the sea').pipe(textDeltas()));
        assert.ok(pieces.length > 5);
        assert.equal(pieces.join(''), SEA);
        assert.equal(await lastValueFrom(open('Tell me of the sea').pipe(accumulateText())), SEA);
      });

      test('reasoning beside the text', async () => {
        assert.equal((await all(open('think').pipe(reasoningDeltas()))).join(''), 'Three and four make seven.');
        assert.equal((await all(open('think').pipe(textDeltas()))).join(''), 'Seven.');
      });

      test('tool calls, each once', async () => {
        const calls = await all(open('weather').pipe(toolCalls()));
        assert.deepEqual(
          calls.map(({ id, name, input, complete, valid }) => ({ id, name, input, complete, valid })),
          [
            { id: 'call_1', name: 'get_weather', input: { city: 'Zürich', days: [1, 2] }, complete: true, valid: true },
            { id: 'call_2', name: 'get_time', input: {}, complete: true, valid: true },
          ],
        );
      });

      test('finish reason, usage and the whole message', async () => {
        const [reason] = await all(open('Tell me of the sea').pipe(finishReason()));
        assert.equal(reason.reason, 'stop');
        const [usage] = await all(open('Tell me of the sea').pipe(finalUsage()));
        assert.equal(usage.totalTokens, 19);
        const message = await lastValueFrom(open('Tell me of the sea').pipe(accumulateMessage()));
        assert.ok(JSON.stringify(message).includes(SEA));
      });

      test('leaving early', async () => {
        assert.equal((await all(open('Tell me of the sea').pipe(textDeltas(), take(2)))).length, 2);
      });

      test('an HTTP error, with code and message', async () => {
        const error = await failure(open('refused'));
        assert.equal(error.kind, 'http');
        assert.equal(error.status, 429);
        assert.equal(error.retryable, true);
        assert.match(error.message, /Slow down/);
      });

      for (const words of ['cut', 'hang up']) {
        test(`an answer that is ${words === 'cut' ? 'cut' : 'hung up on'} is truncated, after what came`, async () => {
          const told = await all(
            open(words).pipe(
              textDeltas(),
              catchError((error) => of(error)),
            ),
          );
          const error = told.pop();
          assert.deepEqual([error.kind, error.tokenSeen], ['truncated', told.length > 0]);
          assert.equal(SEA.repeat(20).startsWith(told.join('')), true);
        });
      }

      test('chaos: gone, dropped, limited, garbled', async () => {
        assert.equal((await failure(open('gone'))).kind, 'connection');
        const dropped = await failure(open('dropped'));
        assert.deepEqual([dropped.kind, dropped.status >= 500], ['http', true]);
        const limited = await failure(open('limited'));
        assert.deepEqual([limited.kind, limited.status, limited.retryable], ['http', 429, true]);
        assert.ok(['http', 'malformed'].includes((await failure(open('garbled'))).kind));
      });

      test('a server that is too slow', async () => {
        const error = await failure(open('slow', { timeouts: { firstTokenMs: 50 } }));
        assert.deepEqual([error.kind, error.phase], ['timeout', 'firstToken']);
      });

      test('a retry gets through what fails twice', async () => {
        let left = 2;
        mock.prependFixture({
          match: { predicate: (asked) => JSON.stringify(asked).includes('stubborn') && left-- > 0 },
          response: { error: { message: 'not now', type: 'overloaded' }, status: 503 },
        });
        mock.onMessage('stubborn', { content: 'Here you are.' });
        const pieces = await all(open('stubborn').pipe(retryBeforeFirstToken({ delay: 1 }), textDeltas()));
        assert.equal(pieces.join(''), 'Here you are.');
      });
    });
  }
}
