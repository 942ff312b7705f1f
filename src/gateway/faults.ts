/** Where a fault strikes: `'headers'` is before the response has begun, a number is after that many output tokens. */
export type FaultPoint = 'headers' | number;

/**
 * What can be made to go wrong. `after` counts the output tokens that are delivered first; `times` makes only the first so many
 * tries of a request fail (tries with the same idempotency key or, without one, the same body).
 */
export type Fault = { readonly times?: number } & (
  | {
      /** An error status instead of an answer. */
      readonly kind: 'status';
      readonly status: number;
      /** `Retry-After` in seconds. */
      readonly retryAfter?: number;
      /** `Retry-After` as an HTTP date, this many seconds from now. */
      readonly retryAfterDate?: number;
      /** `retry-after-ms`. */
      readonly retryAfterMs?: number;
      /** `x-should-retry`. */
      readonly shouldRetry?: boolean;
      readonly code?: string;
      readonly type?: string;
      readonly message?: string;
    }
  /** An error frame in the stream: before the first token (`after: 0`, the default) or later. */
  | {
      readonly kind: 'error';
      readonly after?: number;
      readonly status?: number;
      readonly code?: string;
      readonly message?: string;
    }
  /** `response.failed`; on other endpoints their error frame. */
  | {
      readonly kind: 'failed';
      readonly after?: number;
      readonly status?: number;
      readonly code?: string;
      readonly message?: string;
    }
  /** The answer ends early, and says so: `response.incomplete`, finish reason `length`, `max_tokens`. Default: after 5 tokens. */
  | { readonly kind: 'incomplete'; readonly after?: number; readonly reason?: 'length' | 'content_filter' }
  /** The body ends cleanly without its terminator; with `inFrame`, in the middle of a frame. */
  | { readonly kind: 'cut'; readonly after?: number; readonly inFrame?: boolean }
  /** The connection is reset. */
  | { readonly kind: 'reset'; readonly after?: FaultPoint }
  /** Nothing more comes, and the connection stays open; with `keepAliveMs`, comments (on Messages of gateway B, pings) keep coming. */
  | { readonly kind: 'stall'; readonly after?: FaultPoint; readonly keepAliveMs?: number }
  /** A frame whose data is not JSON, after which the answer goes on. */
  | { readonly kind: 'malformed'; readonly after?: number }
  /** JSON under status 200: an error body, or with `answer` the whole answer as if `stream` had been ignored. */
  | { readonly kind: 'json'; readonly answer?: boolean; readonly contentType?: string }
  /** An HTML page under status 200. */
  | { readonly kind: 'html' }
  /** One frame that holds at least so many bytes of text, or an image file of at least so many. Default: 1 MiB. */
  | { readonly kind: 'huge'; readonly bytes?: number; readonly after?: number }
  /** All is sent, terminator included, and the connection is not closed. */
  | { readonly kind: 'never-close' }
  /** The terminator is missing: `[DONE]`, the final event of Responses, `message_stop`. */
  | { readonly kind: 'no-done' }
  /** Tool calls all under index 0, or without an index. */
  | { readonly kind: 'tool-indexes'; readonly as?: 'zero' | 'missing' }
);

/** A fault, or the words of the `x-gateway-fault` header for it. */
export type FaultLike = Fault | string;

const KINDS: Readonly<Record<string, Fault['kind']>> = {
  status: 'status',
  error: 'error',
  failed: 'failed',
  incomplete: 'incomplete',
  cut: 'cut',
  reset: 'reset',
  stall: 'stall',
  malformed: 'malformed',
  json: 'json',
  html: 'html',
  huge: 'huge',
  'huge-frame': 'huge',
  'never-close': 'never-close',
  'no-done': 'no-done',
  'tool-indexes': 'tool-indexes',
  'wrong-tool-indexes': 'tool-indexes',
};

const NUMBERS = new Set([
  'status',
  'retryAfter',
  'retryAfterDate',
  'retryAfterMs',
  'after',
  'keepAliveMs',
  'bytes',
  'times',
]);
const FLAGS = new Set(['shouldRetry', 'inFrame', 'answer']);
const WORDS = new Set(['code', 'type', 'message', 'reason', 'contentType', 'as']);
/** What stands after `kind=`. */
const MAIN: Partial<Record<Fault['kind'], string>> = {
  status: 'status',
  error: 'after',
  failed: 'after',
  incomplete: 'after',
  cut: 'after',
  reset: 'after',
  stall: 'after',
  malformed: 'after',
  huge: 'bytes',
  'tool-indexes': 'as',
};

/**
 * Reads the words of a fault: `kind`, `kind=value`, then `; name=value`, with names in kebab or camel case.
 *
 * `429` · `status=503; retry-after=2` · `error; after=3` · `reset=headers` · `stall=4; keep-alive-ms=100` · `huge=2000000`
 *
 * @throws TypeError when the words name no fault.
 */
export function parseFault(words: string): Fault {
  const [first = '', ...rest] = words.split(';').map((part) => part.trim());
  const [, word = '', value] = /^([^=\s]+)\s*(?:=\s*(.*))?$/s.exec(first) ?? [];
  if (/^\d{3}$/.test(word)) return parseFault(['status=' + word, ...rest].join(';'));
  const kind = KINDS[word.toLowerCase()];
  if (kind === undefined)
    throw new TypeError(`Unknown fault '${first.slice(0, 40)}'. Known: ${Object.keys(KINDS).join(', ')}, or a status`);
  const fault: Record<string, unknown> = { kind };
  const put = (name: string, raw: string | undefined) => {
    const key = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (FLAGS.has(key)) fault[key] = raw !== 'false';
    else if (WORDS.has(key)) fault[key] = raw ?? '';
    else if (key === 'after' && raw === 'headers') fault[key] = raw;
    else if (NUMBERS.has(key)) {
      const n = Number(raw);
      if (raw === undefined || raw === '' || !Number.isFinite(n) || n < 0)
        throw new TypeError(`'${name}' of a fault must be a number, not '${raw ?? ''}'`);
      fault[key] = n;
    } else throw new TypeError(`A fault has no '${name}'. Known: ${[...NUMBERS, ...FLAGS, ...WORDS].join(', ')}`);
  };
  if (value !== undefined) put(MAIN[kind] ?? word, value);
  for (const part of rest.filter(Boolean)) {
    const at = part.indexOf('=');
    put(at < 0 ? part : part.slice(0, at).trim(), at < 0 ? undefined : part.slice(at + 1).trim());
  }
  return checked(fault as Fault);
}

export function toFault(fault: FaultLike): Fault {
  return typeof fault === 'string' ? parseFault(fault) : checked(fault);
}

function checked(fault: Fault): Fault {
  if (KINDS[fault.kind] === undefined)
    throw new TypeError(`Unknown fault '${fault.kind}'. Known: ${Object.keys(KINDS).join(', ')}`);
  if (fault.kind === 'status' && !(Number.isInteger(fault.status) && fault.status >= 300 && fault.status <= 599)) {
    throw new TypeError(`A status fault needs a status from 300 to 599, not ${String(fault.status)}`);
  }
  if ('after' in fault && fault.after === 'headers' && fault.kind !== 'reset' && fault.kind !== 'stall') {
    throw new TypeError(`Only 'reset' and 'stall' can strike before the headers, not '${(fault as Fault).kind}'`);
  }
  return fault;
}
