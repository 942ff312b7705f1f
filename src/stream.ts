import { asyncScheduler, defer, type SchedulerLike, type Subscriber, type Subscription } from 'rxjs';
import { Clocks, type ClockName } from './clocks.js';
import type { Endpoint, Failure, Progress } from './endpoints/endpoint.js';
import { failureOf } from './endpoints/failure.js';
import {
  ConnectionError,
  EventTooLargeError,
  MalformedEventError,
  StreamEventError,
  StreamTimeoutError,
  TruncatedStreamError,
  type LlmErrorDetails,
  type LlmStreamError,
} from './errors.js';
import { httpResponseError, requestIdOf, withoutQuery } from './http-error.js';
import { subscribeTo, subscriberApart } from './operators/operate.js';
import { copyOf, redact } from './redact.js';
import { isRetryableFailure } from './retryable.js';
import { FrameLimitError, FrameReader } from './sse/frame-reader.js';
import { Sniffer } from './sse/sniffer.js';
import type { StreamTimeouts } from './timeouts.js';
import type { Transport, TransportRequest, TransportResponse } from './transport/transport.js';
import { UsageTally } from './usage.js';

/** Everything that one subscription needs; the request for the wire comes later, when the credentials are there. */
export interface StreamConfig<E extends object> {
  readonly endpoint: Endpoint<E>;
  /** The caller's request: how many choices it wants, and what must not show up in a message. */
  readonly request: object;
  readonly transport: Transport;
  readonly timeouts: StreamTimeouts;
  readonly maxEventBytes: number;
  readonly scheduler: SchedulerLike | undefined;
  readonly onResponse: ((head: ResponseHead) => void) | undefined;
  /** Called before the first token is delivered. */
  readonly onToken: (() => void) | undefined;
}

/** The head of an answer, for whoever wants rate limits or ids from it. */
export interface ResponseHead {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string | undefined;
}

/** One subscription's stream, before anything is sent. */
export interface OpenStream {
  readonly send: (request: TransportRequest) => void;
  /** Nothing can be sent, for a reason that holds no secret. */
  readonly refuse: (why: unknown) => void;
}

/** How long a complete answer waits for what may still follow it, such as the usage. */
const GRACE_MS = 5000;
/** What may come after the terminator for the connection to be worth keeping. */
const DRAIN_MS = 1000;
const DRAIN_BYTES = 4096;
/** As much of an error body as is read, and how long it may take. */
const ERROR_BODY_BYTES = 65_536;
const ERROR_BODY_MS = 5000;

type Chunk = Uint8Array | string;
type ErrorClass = new (message: string, details: LlmErrorDetails) => LlmStreamError;

/**
 * One subscription's way from a request to typed events: sends it, reads the answer, decides how it ends, and takes
 * everything down. Bytes go to `subscriber.next` synchronously.
 */
export function openStream<E extends object>(subscriber: Subscriber<E>, config: StreamConfig<E>): OpenStream {
  const { endpoint, request, timeouts, scheduler } = config;
  const tracker = endpoint.terminal(request);
  const usage = new UsageTally();
  const clocks = new Clocks(scheduler, expire);
  let sent: TransportRequest | undefined;
  let status = 0;
  let headers: Readonly<Record<string, string>> = {};
  let body: Subscription | undefined;
  let bodyEnded = false;
  let sniffer: Sniffer | undefined;
  let reader: FrameReader | undefined;
  /** What came before it was clear what it is; then, of a body that is no event stream, all of it. */
  let held: Chunk[] = [];
  let heldBytes = 0;
  /** The body is no event stream. */
  let rejected = false;
  let events = 0;
  let tokenSeen = false;
  /** Nothing essential can follow: every end is a good one. */
  let enough = false;
  /** The body has ended cleanly; what is read now stood without its blank line. */
  let atEnd = false;
  let closed = false;
  /** The answer is complete, and the body is given a moment to end, so that the connection can be used again. */
  let draining = false;
  let drained = 0;

  subscriber.add(() => {
    closed = true;
    clocks.stop();
    reader?.stop();
    held = [];
    if (!draining) body?.unsubscribe();
  });
  clocks.arm('total', timeouts.totalMs);
  clocks.arm('firstToken', timeouts.firstTokenMs);

  function send(ready: TransportRequest): void {
    sent = ready;
    clocks.arm('headers', timeouts.headersMs);
    subscribeTo(
      defer(() => config.transport(ready)),
      subscriber,
      {
        next: respond,
        error(error) {
          if (status > 0) broken(error);
          else unreachable(`could not be reached${wordOf(error)}. Check \`baseUrl\` and the network.`, error);
        },
        complete() {
          if (!sniffer) unreachable('gave no response.');
        },
      },
    );
  }

  function unreachable(what: string, cause?: unknown): void {
    // An address that is none stays so.
    fail(ConnectionError, what, { retryable: !wordOf(cause).includes('ERR_INVALID'), ...causeOf(cause) });
  }

  function respond(response: TransportResponse): void {
    if (sniffer) return; // one response is all that a request has
    ({ status, headers } = response);
    // Before the other is off, so that both get along with one timer.
    clocks.arm('idle', timeouts.idleMs);
    clocks.disarm('headers');
    config.onResponse?.({ status, headers, requestId: requestIdOf(headers) });
    if (closed) return;
    clocks.arm('stalled', timeouts.stalledMs);
    sniffer = new Sniffer(headers['content-type']);
    if (status < 200 || status > 299) reject();
    // On its own, not in the subscriber's chain: a complete answer leaves its body open for a moment.
    const reading = subscriberApart<Chunk, E>(subscriber, {
      next: receive,
      error(error) {
        bodyEnded = true;
        if (closed) clocks.stop();
        else broken(error);
      },
      complete() {
        bodyEnded = true;
        if (closed) clocks.stop();
        else ended();
      },
    });
    body = reading;
    response.body.subscribe(reading);
  }

  function receive(chunk: Chunk): void {
    if (draining) {
      drained += chunk.length;
      if (drained > DRAIN_BYTES) body?.unsubscribe();
    } else if (!closed) {
      clocks.touch('idle');
      if (reader) read(reader, chunk);
      else hold(chunk);
    }
  }

  /** Until it is clear what the body is; or all of it, as far as an error can use it. */
  function hold(chunk: Chunk): void {
    held.push(chunk);
    heldBytes += chunk.length;
    if (!rejected) {
      // Blank lines without end are for the reader, which does not keep them.
      const isStream = sniffer?.next(chunk) ?? (heldBytes > ERROR_BODY_BYTES ? sniffer?.end() : undefined);
      if (isStream === true) readHeld();
      else if (isStream === false) reject();
    }
    if (rejected && heldBytes >= ERROR_BODY_BYTES) failHttp();
  }

  function readHeld(): void {
    reader = new FrameReader({ onEvent: ({ data, event }) => frame(data, event) }, config.maxEventBytes);
    const chunks = held;
    held = [];
    for (const chunk of chunks) read(reader, chunk);
  }

  function read(from: FrameReader, chunk?: Chunk): void {
    try {
      if (chunk === undefined) from.end();
      else from.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameLimitError)) subscriber.error(error);
      else fail(EventTooLargeError, `sent an event of more than ${error.maxEventBytes} bytes (\`maxEventBytes\`).`);
    }
  }

  function frame(data: string, name: string | undefined): void {
    if (closed) return;
    if (name === 'error') {
      failEvent(failureOf(parseLoosely(data)));
      return;
    }
    // What every stream has and JSON is not is looked at first: an exception of the parser costs as much as many events.
    if (data === '' || data.startsWith(':')) return;
    if (data === '[DONE]') {
      progress(tracker.sentinel());
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      oddFrame(data.trim(), name);
      return;
    }
    // `null`, a number, a list: carries nothing.
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const event = value as E & { type?: unknown };
    if (name && name !== 'message' && endpoint.name !== 'chatCompletions') event.type ??= name;
    emit(event);
  }

  /** The sentinel, a keepalive in the place of data, several frames with a single newline between them, or a fault. */
  function oddFrame(data: string, name: string | undefined): void {
    if (data === '' || data.startsWith(':')) return;
    const lines = data.split('\n');
    if (data === '[DONE]' || data === 'DONE') progress(tracker.sentinel());
    else if (lines.length > 1) for (const line of lines) frame(line, name);
    // A frame that the end has cut says no more than the end itself.
    else if (!atEnd) fail(MalformedEventError, `sent an event that is not JSON, after ${events} others.`);
  }

  function emit(event: E & { readonly type?: unknown }): void {
    const failure = endpoint.failure(event);
    if (!failure || failure.emit) {
      const report = endpoint.usage(event);
      if (report) usage.report(report);
      if (!tokenSeen && endpoint.isToken(event)) {
        tokenSeen = true;
        config.onToken?.();
        clocks.disarm('firstToken');
      }
      events++;
      subscriber.next(event);
      if (closed) return;
    }
    if (failure) {
      failEvent(failure, event);
      return;
    }
    // Others only keep the connection open.
    if (event.type !== 'ping' && event.type !== 'keepalive') {
      clocks.touch('stalled');
      clocks.touch('grace');
    }
    progress(tracker.next(event));
  }

  function progress(how: Progress): void {
    if (how === 'done') complete();
    else if (how === 'cut') truncate();
    else if (how && !enough) {
      enough = true;
      clocks.arm('grace', Math.min(GRACE_MS, timeouts.idleMs || GRACE_MS));
    }
  }

  /** The body has ended cleanly. */
  function ended(): void {
    if (!reader && !rejected) {
      if (sniffer?.end()) readHeld();
      else reject();
    }
    atEnd = true;
    if (reader) read(reader);
    if (closed) return;
    if (rejected) failHttp();
    else if (enough) complete();
    else truncate();
  }

  /** The connection has broken after the head. */
  function broken(error: unknown): void {
    if (rejected) failHttp();
    else if (enough) complete();
    else truncate(error);
  }

  function complete(): void {
    reader?.stop();
    draining = !bodyEnded;
    subscriber.complete();
    if (!bodyEnded) clocks.arm('grace', DRAIN_MS);
  }

  function expire(clock: ClockName): void {
    if (draining) body?.unsubscribe();
    else if (enough) complete();
    else if (rejected) failHttp();
    else if (clock !== 'grace') {
      const option = `${clock}Ms` as const;
      const message = say(
        `ran into \`timeouts.${option}\` (${timeouts[option] ?? 0} ms). Raise it if the model may take longer.`,
      );
      subscriber.error(new StreamTimeoutError(message, clock, { ...details(), retryable: true }));
    }
  }

  function reject(): void {
    rejected = true;
    clocks.arm('grace', ERROR_BODY_MS);
  }

  function failHttp(): void {
    const decoder = new TextDecoder();
    const text = held.map((chunk) => (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })));
    const now = (): number => (scheduler ?? asyncScheduler).now();
    subscriber.error(httpResponseError(where(), status, headers, text.join(''), clean, now, details()));
  }

  function truncate(cause?: unknown): void {
    const how = cause === undefined ? 'ended the stream' : `broke the connection${wordOf(cause)}`;
    fail(TruncatedStreamError, `${how} after ${events} events, before the answer was complete.`, {
      retryable: true,
      ...causeOf(cause),
    });
  }

  function failEvent({ message, code, type, status: own, requestId, retryAfterMs }: Failure, event?: object): void {
    const named = code === undefined ? '' : ` (${clean(String(code))})`;
    const words = message ? clean(message) : undefined;
    fail(StreamEventError, `reported a failure in the stream${named}${words ? `: ${words}` : ''}`, {
      code,
      type,
      status: own ?? status,
      retryAfterMs,
      retryable: isRetryableFailure(code, type, own),
      requestId: requestId ?? requestIdOf(headers),
      event,
      providerMessage: words,
    });
  }

  function fail(Failed: ErrorClass, what: string, more?: LlmErrorDetails): void {
    subscriber.error(new Failed(say(what), { ...details(), ...more }));
  }

  function details(): LlmErrorDetails {
    return {
      endpoint: endpoint.name,
      status: status || undefined,
      requestId: requestIdOf(headers),
      tokenSeen,
      usage: usage.value,
    };
  }

  function say(what: string): string {
    return `${where()} ${what}`;
  }

  /** Without the query, which may hold a key. */
  function where(): string {
    return `${endpoint.name}:${sent ? ` ${withoutQuery(sent.url)}` : ''}`;
  }

  function causeOf(cause: unknown): LlmErrorDetails {
    return cause === undefined ? {} : { cause: copyOf(cause, clean) };
  }

  function clean(words: string): string {
    return redact(words, sent, request);
  }

  return {
    send,
    refuse(why) {
      const { message, cause } = why as Error;
      fail(ConnectionError, `Nothing was sent: ${message}.`, causeOf(cause));
    },
  };
}

/** What an `error` event holds: JSON, JSON after a broken frame, or plain words. */
function parseLoosely(data: string): unknown {
  for (const candidate of [data, ...data.split('\n').reverse()]) {
    try {
      return JSON.parse(candidate) as unknown;
    } catch {
      // the next one
    }
  }
  return { message: data };
}

/** A system's or undici's own word for a broken connection, which says more than the message and holds no secret. */
function wordOf(error: unknown): string {
  const { code, cause } = Object(error) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const word = code ?? cause?.code;
  return typeof word === 'string' ? ` (${word})` : '';
}
