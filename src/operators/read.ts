import type { OperatorFunction, Subscriber } from 'rxjs';
import { readerOf, type Concept } from '../concepts/concept.js';
import type { EndpointName } from '../events.js';
import { operate } from './operate.js';

/**
 * An operator over a concept: `connect` gives the sink that turns what the reader finds into emissions. `flush`, if
 * given, runs after the reader's own end and before the notification is passed on.
 */
export function read<T extends object, Sink, N extends EndpointName, R>(
  concept: Concept<Sink, N>,
  connect: (destination: Subscriber<R>) => { readonly sink: Sink; flush?(error?: unknown): void },
): OperatorFunction<T, R> {
  return operate<T, R>((destination) => {
    const { sink, flush } = connect(destination);
    const reader = readerOf(concept, sink);
    return {
      next(event) {
        reader.next(event);
      },
      error(error) {
        reader.end?.(error);
        flush?.(error);
        destination.error(error);
      },
      complete() {
        reader.end?.();
        flush?.();
        destination.complete();
      },
    };
  });
}
