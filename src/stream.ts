import {
  asyncScheduler,
  from,
  throwError,
  type Observable,
  type SchedulerLike,
  type Subscriber,
  type Subscription,
} from 'rxjs';
import { Clocks, type ClockName } from './clocks.js';
import type { Endpoint, Progress, TerminalTracker } from './endpoints/endpoint.js';
import { failureOf } from './endpoints/failure.js';
import { isKeepalive } from './events.js';
import { requestIdOf } from './http-error.js';
import { subscribeTo, subscriberApart } from './operators/operate.js';
import { FrameLimitError, FrameReader } from './sse/frame-reader.js';
import { Sniffer } from './sse/sniffer.js';
import { StreamErrors } from './stream-errors.js';
import type { StreamTimeouts } from './timeouts.js';
import type { Transport, TransportRequest, TransportResponse } from './transport/transport.js';

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

type Chunk = Uint8Array | string;

/**
 * One subscription's way from a request to typed events: sends it, reads the answer, decides how it ends, and takes
 * everything down. Bytes go to `subscriber.next` synchronously.
 *
 * A class, because hundreds may be open at once: as closures its methods would weigh more than all that it keeps.
 */
export class Stream<E extends object> {
  readonly #subscriber: Subscriber<E>;
  readonly #config: StreamConfig<E>;
  readonly #endpoint: Endpoint<E>;
  readonly #tracker: TerminalTracker<E>;
  readonly #errors: StreamErrors;
  readonly #clocks: Clocks;
  #body: Subscription | undefined;
  #bodyEnded = false;
  #sniffer: Sniffer | undefined;
  #reader: FrameReader | undefined;
  /** What came before it was clear what it is; then, of a body that is no event stream, all of it. */
  #held: Chunk[] = [];
  #heldBytes = 0;
  /** The body is no event stream. */
  #rejected = false;
  /** Nothing essential can follow: every end is a good one. */
  #enough = false;
  /** The body has ended cleanly; what is read now stood without its blank line. */
  #atEnd = false;
  #closed = false;
  /** The answer is complete, and the body is given a moment to end, so that the connection can be used again. */
  #draining = false;
  #drained = 0;

  constructor(subscriber: Subscriber<E>, config: StreamConfig<E>) {
    const { endpoint, request, timeouts, scheduler } = config;
    this.#subscriber = subscriber;
    this.#config = config;
    this.#endpoint = endpoint;
    this.#tracker = endpoint.terminal(request);
    this.#errors = new StreamErrors(endpoint.name, request);
    this.#clocks = new Clocks(scheduler, (clock) => this.#expire(clock));
    subscriber.add(() => this.#close());
    this.#clocks.arm('total', timeouts.totalMs);
    this.#clocks.arm('firstToken', timeouts.firstTokenMs);
  }

  /** Sends what `prepare` gives; what that throws must hold no secret. */
  send(prepare: () => TransportRequest): void {
    let request: TransportRequest;
    try {
      request = prepare();
    } catch (error) {
      this.refuse(error);
      return;
    }
    // Writing the request runs code of the caller's (`toJSON`, a getter), which may have aborted it.
    if (this.#closed) return;
    this.#errors.sent = request;
    this.#clocks.arm('headers', this.#config.timeouts.headersMs);
    subscribeTo(this.#answers(request), this.#subscriber, {
      next: (response) => this.#respond(response),
      error: (error) => {
        if (this.#sniffer) this.#settle(error);
        else this.#subscriber.error(this.#errors.unreachable(error));
      },
      complete: () => {
        if (!this.#sniffer) this.#subscriber.error(this.#errors.unanswered());
      },
    });
  }

  /** Nothing can be sent, for a reason that holds no secret. */
  refuse(why: unknown): void {
    this.#subscriber.error(this.#errors.refused(why));
  }

  #close(): void {
    this.#closed = true;
    this.#clocks.stop();
    this.#reader?.stop();
    this.#held = [];
    if (!this.#draining) this.#body?.unsubscribe();
  }

  /** A transport that throws is one that errors. */
  #answers(request: TransportRequest): Observable<TransportResponse> {
    try {
      return from(this.#config.transport(request));
    } catch (error) {
      return throwError(() => error);
    }
  }

  #respond(response: TransportResponse): void {
    if (this.#sniffer) return; // one response is all that a request has
    const { status, headers } = response;
    this.#errors.status = status;
    this.#errors.headers = headers;
    // Before the other is off, so that both get along with one timer.
    this.#clocks.arm('idle', this.#config.timeouts.idleMs);
    this.#clocks.disarm('headers');
    this.#config.onResponse?.({ status, headers, requestId: requestIdOf(headers) });
    if (this.#closed) return;
    this.#clocks.arm('stalled', this.#config.timeouts.stalledMs);
    this.#sniffer = new Sniffer(headers['content-type']);
    if (status < 200 || status > 299) this.#reject();
    // On its own, not in the subscriber's chain: a complete answer leaves its body open for a moment.
    const reading = subscriberApart<Chunk, E>(this.#subscriber, {
      next: (chunk) => this.#receive(chunk),
      error: (error) => this.#leave(() => this.#settle(error)),
      complete: () => this.#leave(() => this.#ended()),
    });
    this.#body = reading;
    response.body.subscribe(reading);
  }

  /** No more of the body comes. */
  #leave(how: () => void): void {
    this.#bodyEnded = true;
    if (this.#closed) this.#clocks.stop();
    else how();
  }

  #receive(chunk: Chunk): void {
    if (this.#draining) {
      this.#drained += chunk.length;
      if (this.#drained > DRAIN_BYTES) this.#body?.unsubscribe();
    } else if (!this.#closed) {
      this.#clocks.touch('idle');
      if (this.#reader) this.#read(this.#reader, chunk);
      else this.#hold(chunk);
    }
  }

  /** Until it is clear what the body is; or all of it, as far as an error can use it. */
  #hold(chunk: Chunk): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (!this.#rejected) {
      // Blank lines without end are for the reader, which does not keep them.
      const isStream =
        this.#sniffer?.next(chunk) ?? (this.#heldBytes > ERROR_BODY_BYTES ? this.#sniffer?.end() : undefined);
      if (isStream === true) this.#readHeld();
      else if (isStream === false) this.#reject();
    }
    if (this.#rejected && this.#heldBytes >= ERROR_BODY_BYTES) this.#failHttp();
  }

  #readHeld(): void {
    this.#reader = new FrameReader(
      { onEvent: ({ data, event }) => this.#frame(data, event) },
      this.#config.maxEventBytes,
    );
    const chunks = this.#held;
    this.#held = [];
    for (const chunk of chunks) this.#read(this.#reader, chunk);
  }

  #read(from: FrameReader, chunk?: Chunk): void {
    try {
      if (chunk === undefined) from.end();
      else from.push(chunk);
    } catch (error) {
      const isLimit = error instanceof FrameLimitError;
      this.#subscriber.error(isLimit ? this.#errors.tooLarge(error.maxEventBytes) : error);
    }
  }

  #frame(data: string, name: string | undefined): void {
    if (this.#closed) return;
    if (name === 'error') {
      this.#subscriber.error(this.#errors.reported(failureOf(parseLoosely(data))));
      return;
    }
    // What every stream has and JSON is not is looked at first: an exception of the parser costs as much as many events.
    if (data === '' || data.startsWith(':')) return;
    if (data === '[DONE]') {
      this.#progress(this.#tracker.sentinel());
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      this.#oddFrame(data.trim(), name);
      return;
    }
    // `null`, a number, a list: carries nothing.
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const event = value as E & { type?: unknown };
    if (name && name !== 'message' && this.#endpoint.name !== 'chatCompletions') event.type ??= name;
    this.#emit(event);
  }

  /** The sentinel, a keepalive in the place of data, several frames with a single newline between them, or a fault. */
  #oddFrame(data: string, name: string | undefined): void {
    if (data === '' || data.startsWith(':')) return;
    const lines = data.split('\n');
    if (data === '[DONE]' || data === 'DONE') this.#progress(this.#tracker.sentinel());
    else if (lines.length > 1) for (const line of lines) this.#frame(line, name);
    // A frame that the end has cut says no more than the end itself.
    else if (!this.#atEnd) this.#subscriber.error(this.#errors.malformed());
  }

  #emit(event: E): void {
    // Nearly all of a long answer: asking each of them for a failure, for usage and for the end would be a tenth of all work.
    if (this.#errors.tokenSeen && this.#endpoint.isDelta?.(event)) {
      this.#deliver(event);
      return;
    }
    const failure = this.#endpoint.failure(event);
    if (!failure || failure.emit) {
      const report = this.#endpoint.usage(event);
      if (report) this.#errors.usage.report(report);
      if (!this.#errors.tokenSeen && this.#endpoint.isToken(event)) {
        this.#errors.tokenSeen = true;
        this.#config.onToken?.();
        this.#clocks.disarm('firstToken');
      }
      this.#deliver(event);
      if (this.#closed) return;
    }
    if (failure) this.#subscriber.error(this.#errors.reported(failure, event));
    else this.#progress(this.#tracker.next(event));
  }

  #deliver(event: E): void {
    this.#errors.events++;
    this.#subscriber.next(event);
    if (isKeepalive(event)) return;
    this.#clocks.touch('stalled');
    this.#clocks.touch('grace');
  }

  #progress(how: Progress): void {
    if (how === 'done') this.#complete();
    else if (how === 'cut') this.#truncate();
    else if (how && !this.#enough) {
      this.#enough = true;
      this.#clocks.arm('grace', Math.min(GRACE_MS, this.#config.timeouts.idleMs || GRACE_MS));
    }
  }

  /** The body has ended cleanly. */
  #ended(): void {
    if (!this.#reader && !this.#rejected) {
      if (this.#sniffer?.end()) this.#readHeld();
      else this.#reject();
    }
    this.#atEnd = true;
    if (this.#reader) this.#read(this.#reader);
    if (!this.#closed) this.#settle();
  }

  /** No terminator came: the body has ended, or `cause` has broken the connection. */
  #settle(cause?: unknown): void {
    if (this.#rejected) this.#failHttp();
    else if (this.#enough) this.#complete();
    else this.#truncate(cause);
  }

  #complete(): void {
    this.#reader?.stop();
    this.#draining = !this.#bodyEnded;
    this.#subscriber.complete();
    if (!this.#bodyEnded) this.#clocks.arm('grace', DRAIN_MS);
  }

  #expire(clock: ClockName): void {
    if (this.#draining) this.#body?.unsubscribe();
    else if (this.#enough) this.#complete();
    else if (this.#rejected) this.#failHttp();
    else if (clock !== 'grace') {
      this.#subscriber.error(this.#errors.timeout(clock, this.#config.timeouts[`${clock}Ms`]));
    }
  }

  #reject(): void {
    this.#rejected = true;
    this.#clocks.arm('grace', ERROR_BODY_MS);
  }

  #failHttp(): void {
    const decoder = new TextDecoder();
    const text = this.#held.map((chunk) =>
      typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }),
    );
    const now = (): number => (this.#config.scheduler ?? asyncScheduler).now();
    this.#subscriber.error(this.#errors.http(text.join(''), now));
  }

  #truncate(cause?: unknown): void {
    this.#subscriber.error(this.#errors.truncated(cause));
  }
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
