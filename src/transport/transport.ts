import type { Observable } from 'rxjs';

/** A request that is ready for the wire. */
export interface TransportRequest {
  readonly method: 'POST';
  /** Absolute on Node; in browsers it may be relative to the page. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** The head of an answer, and its body as it comes. */
export interface TransportResponse {
  readonly status: number;
  /** Lower-case names; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Bytes, or text that was already decoded. It is subscribed to once, synchronously while the response is being
   * emitted. It completes at a clean end of the body and errors when the connection breaks; unsubscribing closes it.
   */
  readonly body: Observable<Uint8Array | string>;
}

/**
 * Sends a request when it is subscribed to and emits one response, as soon as its head is there. It errors when no
 * response can be had. Unsubscribing before the response has come aborts the request; from then on the body's own
 * subscription is what keeps the connection open, and completing or unsubscribing the outer one changes nothing.
 *
 * Redirects are not followed, where the platform allows it.
 */
export type Transport = (request: TransportRequest) => Observable<TransportResponse>;
