import { from, Observable, type ObservableInput } from 'rxjs';
import type { LlmClient, RequestOptions } from '../client.js';
import type { EndpointName, EventsOf, RequestsOf } from '../events.js';
import { subscribeTo } from '../operators/operate.js';
import { logSubscription, type SubscriptionLog } from './subscription-log.js';

/** What a method answers: events, or a function of the request that gives them. */
export type FakeAnswer<K extends EndpointName> = ObservableInput<EventsOf[K]> | FakeAnswerFunction<K>;

export type FakeAnswerFunction<K extends EndpointName> = (
  request: RequestsOf[K],
  options: RequestOptions | undefined,
) => ObservableInput<EventsOf[K]>;

/** What each method answers; the arrays of `chat.turn()` and the like are answers, too. */
export type FakeAnswers = { readonly [K in EndpointName]?: FakeAnswer<K> };

/** A request that a fake client has been sent: one for each subscription. Narrows on `endpoint`. */
export type FakeRequest = { [K in EndpointName]: FakeRequestOf<K> }[EndpointName];

export interface FakeRequestOf<K extends EndpointName> {
  readonly endpoint: K;
  readonly request: RequestsOf[K];
  readonly options: RequestOptions | undefined;
  /** How it ended; `open` as long as it has not. */
  readonly state: 'open' | 'completed' | 'failed' | 'unsubscribed';
}

export interface FakeLlmClient extends LlmClient {
  /** What was sent, in the order of the subscriptions. A call that nobody subscribes to sends nothing. */
  readonly requests: readonly FakeRequest[];
  /** When each request was sent and when it ended, for `expectSubscriptions()`. */
  readonly subscriptions: SubscriptionLog[];
}

/**
 * An {@link LlmClient} that answers what it is told, to be provided in its place. As with the real one, every
 * subscription is a request of its own, unsubscribing ends it, and an aborted `signal` errors with its reason.
 *
 * A method that was given no answer errors with a `TypeError` when it is subscribed to.
 *
 * ```text
 * chatCompletions: () => cold('-h-e|')
 *
 * subscribed     --^
 * emits          ---h-e|
 * subscriptions  --^---!
 * ```
 *
 * @example
 * ```ts
 * import { textDeltas } from 'rx-llm';
 * import { chat, fakeLlmClient, marbles } from 'rx-llm/testing';
 *
 * const values = { h: chat.text('Hello'), e: chat.finish('stop') };
 *
 * it(
 *   'sends what was asked',
 *   marbles(values, ({ cold, expectObservable, expectSubscriptions, flush }) => {
 *     const llm = fakeLlmClient({ chatCompletions: () => cold('-h-e|') });
 *     const answer = llm.chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
 *
 *     expectObservable(answer.pipe(textDeltas())).toBe('-x--|', { x: 'Hello' });
 *     expectSubscriptions(llm.subscriptions).toBe('     ^---!');
 *     flush();
 *     expect(llm.requests[0]?.request).toEqual({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
 *   }),
 * );
 * ```
 */
export function fakeLlmClient(answers: FakeAnswers): FakeLlmClient {
  const requests: FakeRequest[] = [];
  const subscriptions: SubscriptionLog[] = [];

  function answer<K extends EndpointName>(
    endpoint: K,
    request: RequestsOf[K],
    options: RequestOptions | undefined,
  ): Observable<EventsOf[K]> {
    return new Observable((subscriber) => {
      const entry: { -readonly [F in keyof FakeRequestOf<K>]: FakeRequestOf<K>[F] } = {
        endpoint,
        request,
        options,
        state: 'open',
      };
      requests.push(entry as FakeRequest);
      logSubscription(subscriptions, subscriber);
      const settle = (state: FakeRequest['state']): void => {
        if (entry.state === 'open') entry.state = state;
      };
      subscriber.add(() => {
        settle('unsubscribed');
      });

      const signal = options?.signal;
      const abort = (): void => {
        settle('failed');
        subscriber.error(signal?.reason);
      };
      if (signal?.aborted) {
        abort();
        return;
      }
      signal?.addEventListener('abort', abort);
      subscriber.add(() => signal?.removeEventListener('abort', abort));

      const given: FakeAnswer<K> | undefined = answers[endpoint];
      if (!given) {
        const missing = `fakeLlmClient() was given no answer for \`${endpoint}\`, and a request to it was sent`;
        settle('failed');
        subscriber.error(new TypeError(missing));
        return;
      }
      const events = isFunction(given) ? given(request, options) : given;
      subscribeTo(from(events), subscriber, {
        next(event) {
          subscriber.next(event);
        },
        error(error) {
          settle('failed');
          subscriber.error(error);
        },
        complete() {
          settle('completed');
          subscriber.complete();
        },
      });
    });
  }

  return {
    requests,
    subscriptions,
    chatCompletions: (request, options) => answer('chatCompletions', request, options),
    responses: (request, options) => answer('responses', request, options),
    messages: (request, options) => answer('messages', request, options),
    images: (request, options) => answer('images', request, options),
  };
}

function isFunction<K extends EndpointName>(answer: FakeAnswer<K>): answer is FakeAnswerFunction<K> {
  return typeof answer === 'function';
}
