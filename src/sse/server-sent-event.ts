/**
 * One server-sent event, in the words of the DOM's and NestJS's `MessageEvent`: what an `@Sse()` handler of NestJS
 * emits, and what {@link encodeServerSentEvent} writes. It has `data` or a `comment`, which the events of an endpoint
 * have not: those become one by `toServerSentEvents()`.
 */
export type ServerSentEvent = {
  /** The event's name, the `event:` line. Without one it is a plain `message`. */
  readonly type?: string;
  /** The payload as it stands on the wire; several lines become several `data:` lines. Absent on a mere comment. */
  readonly data?: string;
  readonly id?: string;
  /** How long a reader that reconnects by itself should wait, in milliseconds. */
  readonly retry?: number;
  /** A line that readers skip: it keeps the connection alive. */
  readonly comment?: string;
} & ({ readonly data: string } | { readonly comment: string });
