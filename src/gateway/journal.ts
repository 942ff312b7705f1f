import type { IncomingHttpHeaders } from 'node:http';
import type { Fault } from './faults.js';
import type { Dialect, GatewayEndpoint, Receipt } from './protocol.js';

/**
 * How a request ended: `open` while it runs; `completed` with its terminator; `refused` with an error status; `broken` by a fault in
 * the answer; `hung-up` by the client; `closed` by the gateway's own end.
 */
export type JournalOutcome = 'open' | 'completed' | 'refused' | 'broken' | 'hung-up' | 'closed';

/** One request and what became of it. The entry is filled in while the answer runs. */
export interface JournalEntry {
  /** Counts from 1. */
  readonly number: number;
  /** `req_…`, as in the answer's headers. */
  readonly requestId: string;
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly dialect: Dialect;
  readonly endpoint: GatewayEndpoint | undefined;
  /** Header names in lower case; of keys only the last four characters are kept. */
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | undefined;
  /** Which try of the same idempotency key (or, without one, of the same body) this is, from 1. */
  attempt: number;
  /** The parsed body; `undefined` where it was not JSON. */
  body: unknown;
  streamed: boolean;
  status: number | undefined;
  fault: Fault | undefined;
  outcome: JournalOutcome;
  /** Output tokens of the answer, had it run to its end. */
  tokensPlanned: number;
  /** Output tokens handed to the connection before it ended. */
  tokensDelivered: number;
  bytesDelivered: number;
  /** Milliseconds from `at`. */
  firstTokenMs: number | undefined;
  endedMs: number | undefined;
  /** The client closed the connection before the answer was over, so many milliseconds after `at`. */
  hungUpMs: number | undefined;
  /** What the client pays for: input and the tokens that were delivered; `undefined` where nothing is charged. */
  billed: Receipt | undefined;
}

const SECRET = /^(?:authorization|proxy-authorization|x-api-key|api-key|cookie)$|(?:secret|token|password)$/;

/** Shows which key was used and keeps it secret: the scheme and the last four characters stay. */
export function maskHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const masked: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '');
    masked[name] = SECRET.test(name) ? mask(text) : text;
  }
  return masked;
}

function mask(value: string): string {
  const [, scheme = '', secret = ''] = /^(\w+ )?(.*)$/s.exec(value) ?? [];
  return `${scheme}***${secret.length >= 12 ? secret.slice(-4) : ''}`;
}
