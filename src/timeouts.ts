/**
 * Five clocks, in milliseconds; 0 or `Infinity` switches one off. Each that runs out raises a `StreamTimeoutError`
 * whose `phase` names it, but for a stream whose answer was already whole: that completes.
 */
export interface StreamTimeouts {
  /** From sending the request to the head of the answer. Default: 10 minutes. */
  readonly headersMs?: number;
  /** From subscribing to the first token. Default: off. */
  readonly firstTokenMs?: number;
  /** Without a single byte, comments and pings included. Default: 10 minutes. */
  readonly idleMs?: number;
  /** Bytes may come, but no event other than `ping` and `keepalive`. Default: off. */
  readonly stalledMs?: number;
  /** From subscribing to the end. Default: off. */
  readonly totalMs?: number;
}

export const DEFAULT_TIMEOUTS: StreamTimeouts = { headersMs: 600_000, idleMs: 600_000 };
