/**
 * Five clocks, in milliseconds; 0 or `Infinity` switches one off. Each that runs out raises a `StreamTimeoutError`
 * whose `phase` names it, but for a stream whose answer was already whole: that completes.
 */
export interface StreamTimeouts {
  /** From sending the request to the head of the answer. Default: 10 minutes. */
  readonly headersMs?: number | undefined;
  /** From subscribing to the first token. Default: off. */
  readonly firstTokenMs?: number | undefined;
  /** Without a single byte, comments and pings included. Default: 10 minutes. */
  readonly idleMs?: number | undefined;
  /** Bytes may come, but no event other than `ping` and `keepalive`. Default: off. */
  readonly stalledMs?: number | undefined;
  /** From subscribing to the end. Default: off. */
  readonly totalMs?: number | undefined;
}

const DEFAULTS: StreamTimeouts = { headersMs: 600_000, idleMs: 600_000 };

/** The defaults, and what is set of each of the others, the last one winning; a clock that is `undefined` is not set. */
export function mergeTimeouts(...all: readonly (StreamTimeouts | undefined)[]): StreamTimeouts {
  const set = [DEFAULTS, ...all].flatMap((timeouts) => Object.entries(timeouts ?? {}));
  return Object.fromEntries(set.filter(([, ms]) => ms !== undefined));
}
