import { Observable } from 'rxjs';

/** What a vendor's SDK gives for a stream. The `controller` is how those of OpenAI and Anthropic are aborted. */
export interface AsyncStream<T> extends AsyncIterable<T> {
  readonly controller?: { abort(): void };
}

/**
 * Calls an SDK. The signal is aborted when the subscriber leaves before the end; pass it on where the SDK takes one, so
 * that a request without an answer is given up as well.
 */
export type AsyncStreamFactory<T> = (signal: AbortSignal) => AsyncStream<T> | PromiseLike<AsyncStream<T>>;

/**
 * The stream of a vendor's SDK, or any other async iterable, as a cold Observable: the factory is called anew at each
 * subscription, and `retryBeforeFirstToken()`, `textDeltas()` and the rest work on what it emits.
 *
 * ```text
 * factory()   --a--b--|
 * subscribed     ^----!
 *             --a--b--|
 * ```
 *
 * It emits each item as it comes and completes when the iterable is done. Whatever the factory throws, the promise is
 * rejected with or the iterable throws is the error, unchanged: SDKs have error classes of their own, and most of them
 * take a stream that was cut for one that is complete.
 *
 * Unsubscribing aborts at once, also while the stream itself or its next item is being waited for: the factory's signal,
 * the stream's `controller` if it has one, and the iterator's `return()`. A stream that arrives later is aborted on
 * arrival, and nothing that fails from then on is heard of.
 *
 * @param factory - makes the request; called synchronously in `subscribe`
 * @throws TypeError at once, when it is given a stream in place of a function
 *
 * @example
 * ```ts
 * import { fromAsyncStream, textDeltas } from 'rx-llm';
 * import OpenAI from 'openai';
 *
 * const openai = new OpenAI();
 *
 * fromAsyncStream((signal) =>
 *   openai.chat.completions.create(
 *     { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true },
 *     { signal, maxRetries: 0 },
 *   ),
 * )
 *   .pipe(textDeltas())
 *   .subscribe((text) => console.log(text));
 * ```
 */
export function fromAsyncStream<T>(factory: AsyncStreamFactory<T>): Observable<T> {
  if (typeof factory !== 'function') {
    throw new TypeError('fromAsyncStream: give it a function that makes the request: each subscription needs its own');
  }
  return new Observable<T>((subscriber) => {
    // Whoever is gone already must not have a request made.
    if (subscriber.closed) return;
    const controller = new AbortController();
    let stream: AsyncStream<T> | undefined;
    let iterator: AsyncIterator<T, unknown> | undefined;
    let over = false;

    const abandon = (): void => {
      stream?.controller?.abort();
      // A generator that is waiting for something hears of this only afterwards: hence the controllers, first.
      void Promise.resolve(iterator?.return?.()).then(undefined, ignore);
    };

    const relay = async (): Promise<void> => {
      try {
        stream = await factory(controller.signal);
        iterator = iteratorOf(stream);
        if (subscriber.closed) {
          abandon();
          return;
        }
        for (;;) {
          const result = await iterator.next();
          if (result.done) break;
          subscriber.next(result.value);
          // It may have left meanwhile, or in its own `next`.
          if (subscriber.closed) return;
        }
        over = true;
        subscriber.complete();
      } catch (error) {
        over = true;
        subscriber.error(error);
      }
    };

    subscriber.add(() => {
      if (over) return;
      controller.abort();
      try {
        abandon();
      } catch {
        // Nobody is left who could be told.
      }
    });
    void relay();
  });
}

function iteratorOf<T>(stream: AsyncStream<T>): AsyncIterator<T, unknown> {
  const iterate = (stream as Partial<AsyncStream<T>> | null | undefined)?.[Symbol.asyncIterator];
  if (typeof iterate !== 'function') {
    throw new TypeError(
      'fromAsyncStream: the factory gave no async iterable. Did you forget `stream: true`, or to return the stream?',
    );
  }
  return iterate.call(stream);
}

function ignore(): void {}
