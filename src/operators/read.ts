import type { OperatorFunction, Subscriber } from 'rxjs';
import { readerOf, type Concept } from '../concepts/concept.js';
import { fields } from '../endpoints/fields.js';
import type { EndpointName } from '../events.js';
import { operate } from './operate.js';

interface Reading<Sink> {
  readonly sink: Sink;
  readonly failures?: boolean;
  flush?(failure?: { readonly error: unknown }): void;
}

/**
 * An operator over a concept: `connect` gives the sink that turns what the reader finds into emissions. `flush`, if
 * given, runs after the reader's own end and before the notification is passed on. The frame that reports a failure is
 * raised as an error; with `failures` it is read as well, before the end.
 */
export function read<T extends object, Sink, N extends EndpointName, R>(
  concept: Concept<Sink, N>,
  connect: (destination: Subscriber<R>) => Reading<Sink>,
): OperatorFunction<T, R> {
  return operate<T, R>((destination) => {
    const { sink, flush, failures } = connect(destination);
    const reader = readerOf(concept, sink);
    return {
      next(event) {
        reader.next(event);
      },
      error(error) {
        const { event } = fields(failures && error);
        if (event) reader.next(fields(event));
        reader.end?.(error);
        flush?.({ error });
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
