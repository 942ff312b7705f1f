import { Observable, Subscription, type Subscriber } from 'rxjs';

/**
 * Waits for the first notification of a stream, so that a server can still answer with a real HTTP status when there
 * is no stream to send. It subscribes to `source` at once, and gives
 *
 * - an Observable that replays what has come and goes on with the rest, once the first value or the completion is there;
 * - a rejection with the error, if that is the first notification.
 *
 * ```text
 * source       --a--b--|          --#
 * untilStarted --(resolves)       --(rejects)
 * result          a-b--|
 * ```
 *
 * The Observable is the continuation of one subscription and can be subscribed to once; unsubscribing from it
 * unsubscribes from `source`, and thereby aborts the request. What comes before somebody subscribes is kept, without
 * a limit: subscribe soon.
 *
 * The signal guards the time until somebody subscribes. When it is aborted while waiting, `source` is unsubscribed
 * from and the promise is rejected with the signal's reason; when it is aborted between that and subscribing, likewise,
 * and the reason is what the subscriber gets. From then on the subscription alone decides: frameworks abort their
 * signal at every end of a stream, the good one included.
 *
 * @param source - the stream to send, as a rule with `toServerSentEvents()` at its end
 * @param signal - tells that the reader has left, as NestJS's `@SseSignal()` does; without one, a reader that leaves
 *   while nothing has come is not noticed
 *
 * @example
 * ```ts
 * import type { Observable } from 'rxjs';
 * import { LlmClient, toServerSentEvents, untilStarted, type ServerSentEvent } from 'rx-llm';
 *
 * export class ChatController {
 *   constructor(private readonly llm: LlmClient) {}
 *
 *   // with NestJS: @Sse('chat', { method: RequestMethod.POST }), and @Body() and @SseSignal() on the parameters
 *   chat(prompt: string, signal: AbortSignal): Promise<Observable<ServerSentEvent>> {
 *     const events = this.llm.chatCompletions({ model: 'm', messages: [{ role: 'user', content: prompt }] });
 *     return untilStarted(events.pipe(toServerSentEvents({ keepAliveMs: 15_000 })), signal);
 *   }
 * }
 * ```
 */
export function untilStarted<T>(source: Observable<T>, signal?: AbortSignal): Promise<Observable<T>> {
  return new Promise((resolve, reject) => {
    /** What came before somebody subscribed, each a call that delivers it. */
    let held: ((subscriber: Subscriber<T>) => void)[] = [];
    let reader: Subscriber<T> | undefined;
    let started = false;
    let taken = false;

    const upstream = new Subscription();
    const forget = (): void => signal?.removeEventListener('abort', abandon);
    const abandon = (): void => {
      const reason: unknown = signal?.reason;
      forget();
      upstream.unsubscribe();
      held = [(subscriber) => subscriber.error(reason)];
      // Of no effect once it has been resolved.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the signal's own
      reject(reason);
    };

    const result = new Observable<T>((subscriber) => {
      if (taken) throw new TypeError('untilStarted: the Observable that it gives can be subscribed to once');
      taken = true;
      forget();
      subscriber.add(upstream);
      // Replaying can make more come in, which is appended and so keeps its turn.
      for (const deliver of held) deliver(subscriber);
      held = [];
      reader = subscriber;
    });

    const hold = (deliver: (subscriber: Subscriber<T>) => void): void => {
      held.push(deliver);
      if (!started) resolve(result);
      started = true;
    };

    if (signal?.aborted) {
      abandon();
      return;
    }
    signal?.addEventListener('abort', abandon);
    upstream.add(
      source.subscribe({
        next(value) {
          if (reader) reader.next(value);
          else hold((subscriber) => subscriber.next(value));
        },
        error(error: unknown) {
          forget();
          if (reader) reader.error(error);
          else if (started) hold((subscriber) => subscriber.error(error));
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the source's own
          else reject(error);
        },
        complete() {
          forget();
          if (reader) reader.complete();
          else hold((subscriber) => subscriber.complete());
        },
      }),
    );
  });
}
