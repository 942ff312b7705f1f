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

/**
 * The defaults, and what is set of each of the others, the last one winning; a clock that is `undefined` is not set.
 *
 * @throws RangeError for what is no length of time: a clock that is not what it seems to be must not be off in silence
 */
export function mergeTimeouts(...all: readonly (StreamTimeouts | undefined)[]): StreamTimeouts {
  const set = [DEFAULTS, ...all].flatMap((timeouts) => Object.entries(timeouts ?? {}));
  return Object.fromEntries(set.filter(([name, ms]) => ms !== undefined && checkMs(`timeouts.${name}`, ms)));
}

/** Of a caller who has no compiler the value may be anything. */
export function checkMs(name: string, ms: unknown): true {
  if (typeof ms === 'number' && ms >= 0) return true;
  throw new RangeError(`${name} must be milliseconds, 0 or more, not ${typeof ms === 'number' ? ms : typeof ms}`);
}
