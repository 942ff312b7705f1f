import type { EndpointName } from '../events.js';

/** What an endpoint's failure frame says, before it becomes an error. */
export interface Failure {
  readonly message?: string | undefined;
  /** The body's code, else `details.error_code`, else its type; as it stands on the wire. */
  readonly code?: string | number | undefined;
  readonly type?: string | undefined;
  readonly requestId?: string | undefined;
  /** The HTTP status that the same failure would have had before the stream began, where the frame says so. */
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The frame also carries content (or is the final object): emit it, then raise. */
  readonly emit: boolean;
}

/**
 * What an event, or the `[DONE]` sentinel, does to the life of a stream.
 *
 * - `'done'`: the success terminator; complete at once.
 * - `'enough'`: nothing essential can follow: the end, a reset or the grace period completes.
 * - `'cut'`: the stream says it is over, though its success terminator never came.
 * - `undefined`: go on.
 */
export type Progress = 'done' | 'enough' | 'cut' | undefined;

/** Follows one stream towards its end; a plain state machine, made for each subscription. */
export interface TerminalTracker<E> {
  /** Called with every event that is emitted and is no failure. */
  next(event: E): Progress;
  /** Called at a `[DONE]` sentinel. */
  sentinel(): Progress;
}

/** All that the stream pipeline has to know of an endpoint. Knows the wire's life, and no RxJS. */
export interface Endpoint<E extends object> {
  readonly name: EndpointName;
  /** Appended to `baseUrl` unless the client's `paths` say otherwise. */
  readonly path: string;
  /** The event shows the reader something, costs money, or commits the model. */
  isToken(event: E): boolean;
  /**
   * The event carries a piece of the answer and nothing else: no failure, no usage, no end. Not there where every event
   * may carry all of them.
   */
  isDelta?(event: E): boolean;
  failure(event: E): Failure | undefined;
  /** The raw usage object that the event reports, if it reports one. */
  usage(event: E): object | undefined;
  terminal(request: object): TerminalTracker<E>;
}
