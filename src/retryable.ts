/** The account has no money or allowance left, which no wait of seconds brings back. */
const SPENT = /insufficient_(?!system)|quota|billing|spend|payment|credit|budget|usage_limit/i;

/** The same request would fail the same way. */
const FUTILE = /invalid|unsupported|not_(found|supported)|denied|auth|permission|too_l|context|policy/i;

/** What passes: overload, rate limits, and failures on the other side. `stream_error` is one with nothing delivered. */
const TRANSIENT =
  /overload|rate.?limit|throttl|too_?many|server|api_error|internal|upstream|time.?d?.?out|stream_error|conflict|unavailable|capacity|exhausted|system_resource/i;

type Code = string | number | null | undefined;

/**
 * Whether a request that was answered with an HTTP status may succeed if it is sent again. The server's own word
 * (`x-should-retry`) counts for more than the status; spend limits count for more than both.
 */
export function isRetryableStatus(
  status: number,
  code?: Code,
  type?: Code,
  headers: Readonly<Record<string, string>> = {},
): boolean {
  if (isSpent(code, type)) return false;
  const asked = headers['x-should-retry'];
  if (asked === 'true' || asked === 'false') return asked === 'true';
  return isTransient(status);
}

/**
 * Whether a request that failed inside its stream may succeed if it is sent again.
 *
 * @param status - the HTTP status that the failure would have had, if the frame says so; a code that is one counts too
 */
export function isRetryableFailure(code?: Code, type?: Code, status?: number): boolean {
  // `partial_stream` is the failure after something was delivered, and charged.
  if (isSpent(code, type) || /partial_stream/.test(`${String(code)} ${String(type)}`)) return false;
  const http = status ?? Number(code ?? NaN);
  if (http >= 400 && http < 600) return isTransient(http);
  for (const word of [code, type]) {
    if (typeof word !== 'string') continue;
    if (FUTILE.test(word)) return false;
    if (TRANSIENT.test(word)) return true;
  }
  return false;
}

/** Whether a failure is about what the account may spend. */
export function isSpent(code: Code, type: Code): boolean {
  return SPENT.test(`${String(code)} ${String(type)}`);
}

function isTransient(status: number): boolean {
  return status >= 500 || status === 429 || status === 408 || status === 409 || status === 425;
}
