import { fields } from './endpoints/fields.js';
import type { EndpointName } from './events.js';
import type { Usage } from './usage.js';

export type LlmErrorKind = 'http' | 'in-band' | 'truncated' | 'malformed' | 'limit' | 'timeout' | 'connection';

/** Which clock ran out; see {@link StreamTimeouts}. */
export type TimeoutPhase = 'headers' | 'firstToken' | 'idle' | 'stalled' | 'total';

/** What is known of a failure; all but the message is optional. */
export interface LlmErrorDetails {
  readonly endpoint?: EndpointName | undefined;
  readonly status?: number | undefined;
  readonly code?: string | number | undefined;
  readonly type?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly tokenSeen?: boolean | undefined;
  readonly usage?: Usage | undefined;
  readonly event?: object | undefined;
  readonly providerMessage?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The base of every error that this library raises, but for an aborted `signal`, which raises its own reason.
 *
 * Match with {@link isLlmStreamError} and on `kind` (or `name`) rather than with `instanceof`, which fails where two
 * copies of the package meet. The message says what happened and what to do. Neither it nor a printed or serialised
 * error holds the key, a header, the prompt or a whole payload; `event` is there to be read, and is left out of both.
 * `cause` is a copy of what lay below: its name, message, code, stack and cause, and nothing else that it may have
 * carried.
 *
 * @example
 * ```ts
 * import { EMPTY, catchError } from 'rxjs';
 * import { createLlmClient, isLlmStreamError, textDeltas } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .messages({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] })
 *   .pipe(
 *     textDeltas(),
 *     catchError((error: unknown) => {
 *       if (isLlmStreamError(error) && error.kind === 'timeout') return EMPTY;
 *       throw error;
 *     }),
 *   )
 *   .subscribe();
 * ```
 */
export abstract class LlmStreamError extends Error {
  abstract readonly kind: LlmErrorKind;
  /** The client method that failed; absent on errors of operators over a source of your own. */
  readonly endpoint: EndpointName | undefined;
  /** The HTTP status, once there was one; for a failure in the stream the status it would have had, if the frame says so. */
  readonly status: number | undefined;
  /** The body's code as it stands on the wire, else its type; the HTTP status for `http` errors without either. */
  readonly code: string | number | undefined;
  readonly type: string | undefined;
  /** The gateway's name for the request, from the headers or the body: what its support asks for. */
  readonly requestId: string | undefined;
  /** How long the gateway asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The same request may succeed if it is sent again. Says nothing of tokens that were already shown: see `tokenSeen`. */
  readonly retryable: boolean;
  /** A token had been delivered before the failure, so that a retry would repeat text and cost. */
  readonly tokenSeen: boolean;
  /** The last usage that was reported before the failure. */
  readonly usage: Usage | undefined;
  /**
   * Where `fallbackBeforeFirstToken()` ran out of candidates: the errors of all of them in order, this one last. Not
   * enumerable.
   */
  declare readonly errors?: readonly unknown[];

  readonly #event: object | undefined;
  readonly #providerMessage: string | undefined;

  constructor(message: string, details: LlmErrorDetails = {}) {
    const { cause, event, providerMessage, retryable = false, tokenSeen = false, ...rest } = details;
    super(message, 'cause' in details ? { cause } : undefined);
    Object.assign(this, rest);
    this.retryable = retryable;
    this.tokenSeen = tokenSeen;
    this.#event = event;
    this.#providerMessage = providerMessage;
  }

  /** The wire event that reported the failure. It may hold content, and so no printer comes upon it. */
  get event(): object | undefined {
    return this.#event;
  }

  /**
   * The words of whoever failed, if there were any, out of the message around them: without the address and without
   * advice, and as free of secrets as the message. Not enumerable.
   */
  get providerMessage(): string | undefined {
    return this.#providerMessage;
  }

  /** A plain object for logs: every field but `event`, `cause` and the stack. */
  toJSON(): object {
    // eslint-disable-next-line @typescript-eslint/no-misused-spread -- own enumerable fields are what is wanted
    return { ...this, name: this.name, message: this.message };
  }
}

/**
 * Whether something that was caught is an error of this library. It goes by the shape, so that errors of another copy of
 * the package (its ES module beside its CommonJS, another version, another realm) are known as well.
 *
 * @example
 * ```ts
 * import { isLlmStreamError } from 'rx-llm';
 *
 * function explain(error: unknown): string {
 *   if (!isLlmStreamError(error)) return 'Something went wrong.';
 *   return error.kind === 'timeout' ? 'That took too long.' : error.message;
 * }
 * ```
 */
export function isLlmStreamError(error: unknown): error is LlmStreamError {
  const { kind, tokenSeen } = fields(error);
  return (
    Object.prototype.toString.call(error) === '[object Error]' &&
    typeof kind === 'string' &&
    typeof tokenSeen === 'boolean'
  );
}

/** A status other than 2xx, or a 2xx whose body is not an event stream. */
export class HttpResponseError extends LlmStreamError {
  override readonly name = 'HttpResponseError';
  readonly kind = 'http';
}

/** The gateway reported a failure inside the stream. */
export class StreamEventError extends LlmStreamError {
  override readonly name = 'StreamEventError';
  readonly kind = 'in-band';
}

/** The stream ended, or the connection broke after the headers, before the answer was complete. */
export class TruncatedStreamError extends LlmStreamError {
  override readonly name = 'TruncatedStreamError';
  readonly kind = 'truncated';
}

/** A frame that is neither JSON nor a sentinel. */
export class MalformedEventError extends LlmStreamError {
  override readonly name = 'MalformedEventError';
  readonly kind = 'malformed';
}

/** A frame over `maxEventBytes`. */
export class EventTooLargeError extends LlmStreamError {
  override readonly name = 'EventTooLargeError';
  readonly kind = 'limit';
}

/** One of the clocks ran out; `phase` says which. */
export class StreamTimeoutError extends LlmStreamError {
  override readonly name = 'StreamTimeoutError';
  readonly kind = 'timeout';

  constructor(
    message: string,
    readonly phase: TimeoutPhase,
    details?: LlmErrorDetails,
  ) {
    super(message, details);
  }
}

/** No response: DNS, refused, TLS, or reset before the headers. */
export class ConnectionError extends LlmStreamError {
  override readonly name = 'ConnectionError';
  readonly kind = 'connection';
}
