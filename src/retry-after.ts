/**
 * How long the server asks to wait, in milliseconds: `retry-after-ms`, else `Retry-After` in seconds or as a date. A
 * date is read against the answer's own `Date`, so that a wrong local clock does no harm. What cannot be read, and a
 * date that has passed, say nothing.
 *
 * @param headers - by lower-case names
 * @param now - the wall clock, for an answer without `Date`
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: () => number): number | undefined {
  const value = headers['retry-after'];
  const wait = parseCount(headers['retry-after-ms']) ?? parseCount(value, 1000);
  // Without a time of day it is no date; Date.parse would see one in nearly anything that holds a number.
  if (wait !== undefined || !value || !/\d:\d\d/.test(value)) return wait;
  const date = Date.parse(headers['date'] ?? '');
  const ahead = Date.parse(value) - (Number.isNaN(date) ? now() : date);
  return ahead >= 0 ? ahead : undefined;
}

/** A number without a sign; of a repeated header the first. */
function parseCount(value: string | undefined, scale = 1): number | undefined {
  const digits = /^\s*(\d+(?:\.\d*)?)\s*(?:,|$)/.exec(value ?? '')?.[1];
  return digits === undefined ? undefined : Math.min(Number(digits) * scale, Number.MAX_SAFE_INTEGER);
}
