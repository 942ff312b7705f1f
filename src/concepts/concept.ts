import { endpointOf, type EndpointName, type EventsOf } from '../events.js';

/**
 * Reads one concept (text, tools, usage…) out of one endpoint's events and tells a sink. A plain state machine without
 * RxJS: made for each subscription, fed in order.
 */
export interface Reader<E> {
  next(event: E): void;
  /** Called once, when the answer is over; `error` is set when it failed. */
  end?(error?: unknown): void;
}

export type ReaderFactory<E, Sink> = (sink: Sink) => Reader<E>;

/** One reader factory for each endpoint that can carry the concept. */
export type Concept<Sink, N extends EndpointName = EndpointName> = {
  readonly [K in N]: ReaderFactory<EventsOf[K], Sink>;
};

/**
 * The reader of a whole concept: each event goes to the reader of the endpoint that its shape names. Readers start
 * afresh at `response.created` and `message_start`, so that a `concat` of turns loses nothing.
 */
export function readerOf<Sink, N extends EndpointName>(concept: Concept<Sink, N>, sink: Sink): Reader<object> {
  const factories: Partial<Record<EndpointName, ReaderFactory<never, Sink>>> = concept;
  // One is kept for each endpoint: a stray ping of another's shape must not start the answer afresh.
  const readers = new Map<EndpointName, Reader<object> | undefined>();
  let name: EndpointName | undefined;
  let reader: Reader<object> | undefined;
  /** The last event's type, if another of it goes where that one went: most are deltas after deltas. */
  let same: string | undefined;
  return {
    next(event: { readonly type?: unknown; readonly choices?: unknown }): void {
      if (same !== undefined && event.type === same) {
        reader?.next(event);
        return;
      }
      // A type that names no endpoint (`error`, something new) belongs to the answer that is being read; so does an
      // event without type, unless it looks like chat's or there is a chat to read.
      const isUnnamed = typeof event.type !== 'string' && event.choices === undefined;
      const isStray = isUnnamed && name !== undefined && !readers.has('chatCompletions');
      const named = endpointOf(event);
      const next = isStray ? name : (named ?? name);
      if (next === undefined) return;
      const starts = event.type === 'response.created' || event.type === 'message_start';
      if (starts || next !== name) {
        if (starts) readers.get(next)?.end?.();
        if (starts || !readers.has(next)) readers.set(next, factories[next]?.(sink));
        name = next;
        reader = readers.get(next);
      }
      // Where the type names no endpoint, the next event of that type may have what does.
      same = typeof event.type === 'string' && named && event.choices === undefined && !starts ? event.type : undefined;
      reader?.next(event);
    },
    end(error?: unknown): void {
      for (const each of readers.values()) each?.end?.(error);
    },
  };
}
