import type { Failure } from './endpoints/endpoint.js';
import {
  ConnectionError,
  EventTooLargeError,
  MalformedEventError,
  StreamEventError,
  StreamTimeoutError,
  TruncatedStreamError,
  type HttpResponseError,
  type LlmErrorDetails,
  type TimeoutPhase,
} from './errors.js';
import type { EndpointName } from './events.js';
import { httpResponseError, requestIdOf, withoutQuery } from './http-error.js';
import { copyOf, redact } from './redact.js';
import { isRetryableFailure } from './retryable.js';
import type { TransportRequest } from './transport/transport.js';
import { UsageTally } from './usage.js';

/** The errors of one stream, and what is known of it by the time that they are made. */
export class StreamErrors {
  sent: TransportRequest | undefined;
  status = 0;
  headers: Readonly<Record<string, string>> = {};
  /** How many have been delivered. */
  events = 0;
  tokenSeen = false;
  readonly usage = new UsageTally();
  readonly #endpoint: EndpointName;
  readonly #request: object;

  /** @param request - the caller's, which must not show up in a message */
  constructor(endpoint: EndpointName, request: object) {
    this.#endpoint = endpoint;
    this.#request = request;
  }

  /** Nothing can be sent, for a reason that holds no secret. */
  refused(why: unknown): ConnectionError {
    const { message, cause } = why as Error;
    return new ConnectionError(this.#say(`Nothing was sent: ${message}.`), this.#details(cause));
  }

  unreachable(error: unknown): ConnectionError {
    const word = wordOf(error);
    const message = this.#say(`could not be reached${word}. Check \`baseUrl\` and the network.`);
    // An address that is none stays so.
    return new ConnectionError(message, { ...this.#details(error), retryable: !word.includes('ERR_INVALID') });
  }

  unanswered(): ConnectionError {
    return new ConnectionError(this.#say('gave no response.'), { ...this.#details(), retryable: true });
  }

  http(body: string, now: () => number): HttpResponseError {
    const clean = (words: string): string => this.#clean(words);
    return httpResponseError(this.#where(), this.status, this.headers, body, clean, now, this.#details());
  }

  /** @param cause - what broke the connection; without one it has ended */
  truncated(cause?: unknown): TruncatedStreamError {
    const how = cause === undefined ? 'ended the stream' : `broke the connection${wordOf(cause)}`;
    const message = this.#say(`${how} after ${this.events} events, before the answer was complete.`);
    return new TruncatedStreamError(message, { ...this.#details(cause), retryable: true });
  }

  malformed(): MalformedEventError {
    const message = this.#say(`sent an event that is not JSON, after ${this.events} others.`);
    return new MalformedEventError(message, this.#details());
  }

  tooLarge(maxEventBytes: number): EventTooLargeError {
    const message = this.#say(`sent an event of more than ${maxEventBytes} bytes (\`maxEventBytes\`).`);
    return new EventTooLargeError(message, this.#details());
  }

  timeout(phase: TimeoutPhase, ms = 0): StreamTimeoutError {
    const message = this.#say(`ran into \`timeouts.${phase}Ms\` (${ms} ms). Raise it if the model may take longer.`);
    return new StreamTimeoutError(message, phase, { ...this.#details(), retryable: true });
  }

  /** @param event - the frame that said so, where it is more than that */
  reported({ message, code, type, status, requestId, retryAfterMs }: Failure, event?: object): StreamEventError {
    const named = code === undefined ? '' : ` (${this.#clean(String(code))})`;
    const words = message ? this.#clean(message) : undefined;
    const what = this.#say(`reported a failure in the stream${named}${words ? `: ${words}` : ''}`);
    const known = this.#details();
    return new StreamEventError(what, {
      ...known,
      code,
      type,
      status: status ?? this.status,
      retryAfterMs,
      retryable: isRetryableFailure(code, type, status),
      requestId: requestId ?? known.requestId,
      event,
      providerMessage: words,
    });
  }

  #details(cause?: unknown): LlmErrorDetails {
    return {
      endpoint: this.#endpoint,
      status: this.status || undefined,
      requestId: requestIdOf(this.headers),
      tokenSeen: this.tokenSeen,
      usage: this.usage.value,
      ...(cause !== undefined && { cause: copyOf(cause, (words) => this.#clean(words)) }),
    };
  }

  #say(what: string): string {
    return `${this.#where()} ${what}`;
  }

  /** Without the query, which may hold a key. */
  #where(): string {
    return `${this.#endpoint}:${this.sent ? ` ${withoutQuery(this.sent.url)}` : ''}`;
  }

  #clean(words: string): string {
    return redact(words, this.sent, this.#request);
  }
}

/** A system's or undici's own word for a broken connection, which says more than the message and holds no secret. */
function wordOf(error: unknown): string {
  const { code, cause } = Object(error) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const word = code ?? cause?.code;
  return typeof word === 'string' ? ` (${word})` : '';
}
