import { asyncScheduler, type Observable, type SchedulerLike, type Subscriber, type Subscription } from 'rxjs';
import { Clocks, type ClockName } from './clocks.js';
import { failureOf } from './endpoints/failure.js';
import type { Endpoint, Failure, Progress, TerminalTracker } from './endpoints/endpoint.js';
import {
  ConnectionError,
  EventTooLargeError,
  LlmStreamError,
  MalformedEventError,
  StreamEventError,
  StreamTimeoutError,
  TruncatedStreamError,
  type LlmErrorDetails,
  type TimeoutPhase,
} from './errors.js';
import { httpResponseError, requestIdOf } from './http-error.js';
import { subscribeTo } from './operators/operate.js';
import { redact } from './redact.js';
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

/** How long a complete answer waits for what may still follow it, such as the usage. */
const GRACE_MS = 5000;
/** What may come after the terminator for the connection to be worth keeping. */
const DRAIN_MS = 1000;
const DRAIN_BYTES = 4096;
/** As much of an error body as is read, and how long it may take. */
const ERROR_BODY_BYTES = 65_536;
const ERROR_BODY_MS = 5000;

const PHASES: Readonly<Record<TimeoutPhase, readonly [option: keyof StreamTimeouts, what: string]>> = {
  headers: ['headersMs', 'has not answered'],
  'firstToken': ['firstTokenMs', 'has not sent a first token'],
  idle: ['idleMs', 'has not sent a byte'],
  stalled: ['stalledMs', 'has sent bytes, but no event,'],
  total: ['totalMs', 'has not finished its answer'],
};

/** What the body is being read as. */
type Mode = 'unknown' | 'events' | 'text' | 'drain';

/**
 * One subscription's way from a request to typed events: sends it, reads the answer, decides how it ends, and takes
 * everything down. Bytes go to `subscriber.next` synchronously.
 */
export class LlmStream<E extends object> {
  readonly #subscriber: Subscriber<E>;
  readonly #config: StreamConfig<E>;
  readonly #endpoint: Endpoint<E>;
  readonly #tracker: TerminalTracker<E>;
  readonly #clocks: Clocks;
  readonly #usage = new UsageTally();
  #sent: TransportRequest | undefined;
  #status: number | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #reader: FrameReader | undefined;
  #sniffer: Sniffer | undefined;
  #body: Subscription | undefined;
  #mode: Mode = 'unknown';
  /** Chunks that came before it was clear what they are; then the text of a body that is no event stream. */
  #held: (Uint8Array | string)[] = [];
  #heldBytes = 0;
  #drained = 0;
  #events = 0;
  #tokenSeen = false;
  /** Nothing essential can follow: every end is a good one. */
  #enough = false;
  /** The body has ended cleanly; what is read now stood without its blank line. */
  #atEnd = false;
  #bodyEnded = false;
  #closed = false;

  constructor(subscriber: Subscriber<E>, config: StreamConfig<E>) {
    this.#subscriber = subscriber;
    this.#config = config;
    this.#endpoint = config.endpoint;
    this.#tracker = config.endpoint.terminal(config.request);
    this.#clocks = new Clocks(config.scheduler, (name) => {
      this.#expire(name);
    });
    this.#clocks.arm('total', config.timeouts.totalMs);
    this.#clocks.arm('firstToken', config.timeouts.firstTokenMs);
    subscriber.add(() => {
      this.#close();
    });
  }

  /** Nothing could be sent. */
  refuse(message: string, cause?: unknown): void {
    this.#subscriber.error(
      new ConnectionError(message, { endpoint: this.#endpoint.name, ...(cause !== undefined && { cause }) }),
    );
  }

  send(request: TransportRequest): void {
    this.#sent = request;
    this.#clocks.arm('headers', this.#config.timeouts.headersMs);
    subscribeTo(this.#config.transport(request), this.#subscriber, {
      next: (response) => {
        this.#respond(response);
      },
      error: (error) => {
        if (this.#status !== undefined) this.#break(error);
        else
          this.#fail(
            new ConnectionError(this.#say(`could not be reached${codeOf(error)}. Check \`baseUrl\` and the network.`), {
              ...this.#details(),
              retryable: true,
              cause: error,
            }),
          );
      },
      complete: () => {
        if (this.#status !== undefined) return;
        this.#fail(new ConnectionError(this.#say('gave no response'), { ...this.#details(), retryable: true }));
      },
    });
  }

  // The answer's head and body

  #respond(response: TransportResponse): void {
    const { status, headers, body } = response;
    const { timeouts, onResponse } = this.#config;
    this.#status = status;
    this.#headers = headers;
    this.#clocks.disarm('headers');
    if (onResponse) {
      try {
        onResponse({ status, headers, requestId: requestIdOf(headers) });
      } catch (error) {
        this.#subscriber.error(error);
      }
      if (this.#closed) return;
    }
    this.#clocks.arm('idle', timeouts.idleMs);
    this.#clocks.arm('stalled', timeouts.stalledMs);
    this.#sniffer = new Sniffer(headers['content-type']);
    if (status < 200 || status > 299) this.#readText();
    this.#listen(body);
  }

  #listen(body: Observable<Uint8Array | string>): void {
    // On its own, not in the subscriber's chain: a complete answer leaves its body open for a moment, see #drain.
    this.#body = body.subscribe({
      next: (chunk) => {
        this.#receive(chunk);
      },
      error: (error: unknown) => {
        this.#bodyEnded = true;
        if (this.#closed) this.#clocks.stop();
        else this.#break(error);
      },
      complete: () => {
        this.#bodyEnded = true;
        if (this.#closed) this.#clocks.stop();
        else this.#end();
      },
    });
    if (this.#closed && this.#mode !== 'drain') this.#body.unsubscribe();
  }

  #receive(chunk: Uint8Array | string): void {
    if (this.#mode === 'drain') {
      this.#drained += chunk.length;
      if (this.#drained > DRAIN_BYTES) this.#body?.unsubscribe();
      return;
    }
    if (this.#closed) return;
    this.#clocks.touch('idle');
    if (this.#mode === 'events') this.#read(chunk);
    else if (this.#mode === 'text') this.#hold(chunk);
    else this.#sniff(chunk);
  }

  #sniff(chunk: Uint8Array | string): void {
    this.#held.push(chunk);
    const isStream = this.#sniffer?.next(chunk);
    if (isStream === true) this.#readEvents();
    else if (isStream === false) this.#readText();
  }

  #readEvents(): void {
    this.#mode = 'events';
    this.#reader = new FrameReader(
      {
        onEvent: ({ data, event }) => {
          this.#frame(data, event);
        },
      },
      this.#config.maxEventBytes,
    );
    const held = this.#held;
    this.#held = [];
    for (const chunk of held) this.#read(chunk);
  }

  #read(chunk: Uint8Array | string | undefined): void {
    try {
      if (chunk === undefined) this.#reader?.end();
      else this.#reader?.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameLimitError)) this.#fail(error);
      else
        this.#fail(
          new EventTooLargeError(
            this.#say(
              `sent an event of more than ${error.maxEventBytes} bytes. Raise \`maxEventBytes\` if that is right.`,
            ),
            this.#details(),
          ),
        );
    }
  }

  #readText(): void {
    this.#mode = 'text';
    this.#clocks.arm('grace', ERROR_BODY_MS);
    const held = this.#held;
    this.#held = [];
    for (const chunk of held) this.#hold(chunk);
  }

  #hold(chunk: Uint8Array | string): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes >= ERROR_BODY_BYTES) this.#rejectAnswer();
  }

  /** The answer is no event stream. */
  #rejectAnswer(): void {
    const decoder = new TextDecoder();
    const body = this.#held
      .map((chunk) => (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })))
      .join('');
    this.#fail(
      httpResponseError(
        this.#where(),
        this.#status ?? 0,
        this.#headers,
        body,
        (words) => this.#clean(words),
        () => (this.#config.scheduler ?? asyncScheduler).now(),
        this.#details(),
      ),
    );
  }

  // Frames and events

  #frame(data: string, name: string | undefined): void {
    if (this.#closed) return;
    if (name === 'error') this.#fail(this.#eventError(failureOf(parseLoosely(data))));
    else if (data.charCodeAt(0) === 123) this.#json(data, name, data);
    else this.#oddFrame(data.trim(), name);
  }

  /** Not plainly an object: nothing, a keepalive, the sentinel, or something that should not be. */
  #oddFrame(data: string, name: string | undefined): void {
    if (data === '' || data.startsWith(':')) return;
    if (data === '[DONE]' || data === 'DONE') this.#progress(this.#tracker.sentinel());
    else this.#json(data, name, data);
  }

  #json(data: string, name: string | undefined, whole: string): void {
    let value: unknown;
    try {
      value = JSON.parse(data) as unknown;
    } catch {
      this.#unparsed(data, name, whole);
      return;
    }
    // `null`, a number, a list: carries nothing.
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const event = value as E & { type?: unknown };
    if (name !== undefined && name !== 'message' && this.#endpoint.name !== 'chatCompletions') event.type ??= name;
    this.#event(event);
  }

  /** Some servers end their frames with a single newline, so that several come as one. */
  #unparsed(data: string, name: string | undefined, whole: string): void {
    if (data === whole && data.includes('\n')) {
      for (const line of data.split('\n')) {
        if (this.#closed) return;
        const trimmed = line.trim();
        if (trimmed === '' || trimmed.startsWith(':')) continue;
        if (trimmed === '[DONE]' || trimmed === 'DONE') this.#progress(this.#tracker.sentinel());
        else this.#json(trimmed, name, whole);
      }
      return;
    }
    // A frame that the end has cut says no more than the end itself.
    if (this.#atEnd) return;
    this.#fail(
      new MalformedEventError(
        this.#say(
          `sent an event that is not JSON (${data.length} characters, after ${this.#events} events). Skipping it would lose part of the answer.`,
        ),
        this.#details(),
      ),
    );
  }

  #event(event: E): void {
    const endpoint = this.#endpoint;
    const failure = endpoint.failure(event);
    if (failure === undefined || failure.emit) {
      const usage = endpoint.usage(event);
      if (usage !== undefined) this.#usage.report(usage);
      if (!this.#tokenSeen && endpoint.isToken(event)) {
        this.#tokenSeen = true;
        this.#config.onToken?.();
        this.#clocks.disarm('firstToken');
      }
      this.#events++;
      this.#subscriber.next(event);
      if (this.#closed) return;
    }
    if (failure !== undefined) {
      this.#fail(this.#eventError(failure, event));
      return;
    }
    if (isAlive(event)) {
      this.#clocks.touch('stalled');
      if (this.#enough) this.#clocks.touch('grace');
    }
    this.#progress(this.#tracker.next(event));
  }

  // How it ends

  #progress(progress: Progress): void {
    if (progress === undefined || this.#closed) return;
    if (progress === 'done') this.#complete();
    else if (progress === 'cut') this.#truncate();
    else if (!this.#enough) {
      this.#enough = true;
      this.#clocks.arm('grace', Math.min(GRACE_MS, this.#config.timeouts.idleMs || GRACE_MS));
    }
  }

  /** The body has ended cleanly. */
  #end(): void {
    if (this.#mode === 'unknown') {
      if (this.#sniffer?.end()) this.#readEvents();
      else this.#readText();
    }
    if (this.#mode === 'text') {
      this.#rejectAnswer();
      return;
    }
    this.#atEnd = true;
    this.#read(undefined);
    if (this.#closed) return;
    if (this.#enough) this.#complete();
    else this.#truncate();
  }

  /** The connection has broken after the head. */
  #break(error: unknown): void {
    if (this.#mode === 'text') this.#rejectAnswer();
    else if (this.#enough) this.#complete();
    else this.#truncate(error);
  }

  #truncate(cause?: unknown): void {
    const how = cause === undefined ? 'ended the stream' : `broke the connection${codeOf(cause)}`;
    this.#fail(
      new TruncatedStreamError(
        this.#say(
          `${how} after ${this.#events} events, before the answer was complete. ${this.#tokenSeen ? 'What came is a part of it.' : 'No token had come: it can be sent again.'}`,
        ),
        { ...this.#details(), retryable: true, ...(cause !== undefined && { cause }) },
      ),
    );
  }

  #expire(name: ClockName): void {
    if (this.#mode === 'drain') this.#body?.unsubscribe();
    else if (this.#enough) this.#complete();
    else if (name === 'grace' || this.#mode === 'text') this.#rejectAnswer();
    else this.#timeOut(name);
  }

  #timeOut(phase: TimeoutPhase): void {
    const [option, what] = PHASES[phase];
    this.#fail(
      new StreamTimeoutError(
        this.#say(
          `${what} within ${this.#config.timeouts[option] ?? 0} ms (\`timeouts.${option}\`). Raise it if the model may take longer.`,
        ),
        phase,
        { ...this.#details(), retryable: true },
      ),
    );
  }

  #complete(): void {
    this.#reader?.stop();
    const mayReuse = !this.#bodyEnded;
    if (mayReuse) this.#mode = 'drain';
    this.#subscriber.complete();
    // Armed after #close has stopped the clocks: the body ends within a moment, or the connection is closed.
    if (mayReuse && !this.#bodyEnded) this.#clocks.arm('grace', DRAIN_MS);
  }

  #fail(error: unknown): void {
    this.#subscriber.error(error);
  }

  /** The subscriber has left or has been told the end. */
  #close(): void {
    this.#closed = true;
    this.#clocks.stop();
    this.#held = [];
    this.#reader?.stop();
    if (this.#mode !== 'drain') this.#body?.unsubscribe();
  }

  // What errors say

  #eventError(failure: Failure, event?: object): LlmStreamError {
    const { message, code, type, status } = failure;
    const retryable = isRetryableFailure(code, type, status);
    const named = code === undefined ? '' : ` (${this.#clean(String(code))})`;
    const said = message === undefined ? '' : `: ${this.#clean(message)}`;
    return new StreamEventError(this.#say(`reported a failure in the stream${named}${said}`), {
      ...this.#details(),
      code,
      type,
      status,
      retryable,
      ...(failure.requestId !== undefined && { requestId: failure.requestId }),
      ...(failure.retryAfterMs !== undefined && { retryAfterMs: failure.retryAfterMs }),
      event,
    });
  }

  #details(): LlmErrorDetails {
    return {
      endpoint: this.#endpoint.name,
      status: this.#status,
      requestId: requestIdOf(this.#headers),
      tokenSeen: this.#tokenSeen,
      usage: this.#usage.value,
    };
  }

  #where(): string {
    const [url = ''] = (this.#sent?.url ?? '').split('?', 1);
    return `${this.#endpoint.name}: ${url}`;
  }

  #say(what: string): string {
    return `${this.#where()} ${what}`;
  }

  #clean(words: string): string {
    return redact(words, this.#sent?.headers ?? {}, this.#config.request);
  }
}

/** Events that only keep the connection open. */
function isAlive(event: { readonly type?: unknown }): boolean {
  return event.type !== 'ping' && event.type !== 'keepalive';
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
function codeOf(error: unknown): string {
  const { code, cause } = Object(error) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const word = code ?? cause?.code;
  return typeof word === 'string' ? ` (${word})` : '';
}
