import { expectTypeOf } from 'expect-type';
import { NEVER, of, take } from 'rxjs';
import type { ChatCompletionRequest } from '../endpoints/chat-completions/wire.js';
import type { LlmClient } from '../client.js';
import { chat, fakeLlmClient, images, marbles, messages, responses, type FakeLlmClient } from './index.js';

const request: ChatCompletionRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const values = { h: chat.text('Hello'), e: chat.finish('stop') };

describe('fakeLlmClient', () => {
  it(
    'answers each subscription with what the function gives, and records the request',
    marbles(values, ({ cold, expectObservable, expectSubscriptions, flush }) => {
      const llm = fakeLlmClient({ chatCompletions: ({ model }) => (model === 'm' ? cold('-h-e|') : cold('#')) });
      const answer = llm.chatCompletions(request, { idempotencyKey: 'k' });

      expect(llm.requests).toEqual([]);
      expectObservable(answer).toBe('            -h-e|');
      expectObservable(answer, '--^--!').toBe('   ---h--');
      expectSubscriptions(llm.subscriptions).toBe(['^---!', '--^--!']);
      flush();

      expect(llm.requests).toEqual([
        { endpoint: 'chatCompletions', request, options: { idempotencyKey: 'k' }, state: 'completed' },
        { endpoint: 'chatCompletions', request, options: { idempotencyKey: 'k' }, state: 'unsubscribed' },
      ]);
    }),
  );

  it(
    'takes events and Observables without a function',
    marbles(({ expectObservable }) => {
      const llm = fakeLlmClient({
        responses: of(responses.text('a')),
        messages: [messages.text('b')],
        images: images.turn('c'),
      });

      expectObservable(llm.responses({ model: 'm', input: 'Hi' })).toBe('(a|)', { a: responses.text('a') });
      expectObservable(llm.messages({ model: 'm', max_tokens: 1, messages: [] })).toBe('(b|)', {
        b: messages.text('b'),
      });
      expectObservable(llm.images({ prompt: 'a cat' })).toBe('(c|)', { c: images.completed('c') });
    }),
  );

  it(
    'errors where it was given no answer',
    marbles(({ expectObservable, flush }) => {
      const llm = fakeLlmClient({});
      const message = 'fakeLlmClient() was given no answer for `chatCompletions`, and a request to it was sent';

      expectObservable(llm.chatCompletions(request)).toBe('#', {}, new TypeError(message));
      flush();
      expect(llm.requests[0]?.state).toBe('failed');
    }),
  );

  it(
    'passes errors on',
    marbles(values, ({ cold, expectObservable, flush }) => {
      const llm = fakeLlmClient({ chatCompletions: () => cold('-h-#', undefined, new Error('cut')) });

      expectObservable(llm.chatCompletions(request)).toBe('-h-#', undefined, new Error('cut'));
      flush();
      expect(llm.requests[0]?.state).toBe('failed');
    }),
  );

  it('raises what the function throws', () => {
    const llm = fakeLlmClient({
      chatCompletions: () => {
        throw new RangeError('no such model');
      },
    });
    const error = jest.fn();
    llm.chatCompletions(request).subscribe({ error });
    expect(error).toHaveBeenCalledWith(new RangeError('no such model'));
  });

  it('ends with the reason of an aborted signal, as the client does', () => {
    const llm = fakeLlmClient({ chatCompletions: NEVER });
    const controller = new AbortController();
    const error = jest.fn();
    llm.chatCompletions(request, { signal: controller.signal }).subscribe({ error });
    expect(error).not.toHaveBeenCalled();

    controller.abort('left');
    expect(error).toHaveBeenCalledWith('left');
    llm.chatCompletions(request, { signal: controller.signal }).subscribe({ error });
    expect(error).toHaveBeenCalledTimes(2);
    expect(llm.requests.map(({ state }) => state)).toEqual(['failed', 'failed']);
  });

  it('stops a synchronous answer when it is left', () => {
    let asked = 0;
    const endless = function* () {
      while (asked < 100) {
        asked++;
        yield values.h;
      }
    };
    const llm = fakeLlmClient({ chatCompletions: endless });
    llm.chatCompletions(request).pipe(take(2)).subscribe();
    expect(asked).toBe(2);
    expect(llm.requests[0]?.state).toBe('unsubscribed');
  });

  it('fits where a client is wanted, with requests that narrow on their endpoint', () => {
    const llm = fakeLlmClient({});
    expectTypeOf<FakeLlmClient>().toExtend<LlmClient>();
    for (const sent of llm.requests) {
      if (sent.endpoint === 'chatCompletions') expectTypeOf(sent.request).toEqualTypeOf<ChatCompletionRequest>();
    }
    // @ts-expect-error -- the events of another endpoint
    fakeLlmClient({ chatCompletions: () => of(messages.text('Hi')) });
  });
});
