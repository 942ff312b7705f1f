import {
  FetchBackend,
  HttpBackend,
  HttpClient,
  type HttpContext,
  HttpErrorResponse,
  type HttpEvent,
  HttpEventType,
  type HttpHeaders,
} from '@angular/common/http';
import { inject } from '@angular/core';
import { asyncScheduler, Observable, type Subscriber, Subscription } from 'rxjs';
import type { Transport, TransportResponse } from '../transport/transport.js';

export interface HttpClientTransportOptions {
  /** What the application's interceptors are to know of these requests. */
  readonly context?: HttpContext;
  /** Whether cookies are sent to another origin. */
  readonly withCredentials?: boolean;
}

/** Sends requests through the `HttpClient` of the injection context it is called in. */
export function httpClientTransport(options: HttpClientTransportOptions = {}): Transport {
  const http = inject(HttpClient);
  // With XMLHttpRequest the browser follows redirects, and Angular warns of an option that asks otherwise.
  const redirect = inject(HttpBackend) instanceof FetchBackend ? { redirect: 'manual' as const } : {};

  return ({ method, url, headers, body }) =>
    new Observable<TransportResponse>((subscriber) => {
      const connection = new Subscription();
      const answer = new Answer(subscriber, connection);
      subscriber.add(() => {
        if (!answer.responded) connection.unsubscribe();
      });
      // Added, not assigned: an interceptor may answer before `subscribe` returns.
      connection.add(
        http
          .request(method, url, {
            ...options,
            ...redirect,
            body,
            headers: { ...headers },
            observe: 'events',
            reportProgress: true,
            responseType: 'text',
          })
          .subscribe(answer),
      );
    });
}

/** HttpClient's events as a response: its head first, then what each event adds to the text. */
class Answer {
  readonly #subscriber: Subscriber<TransportResponse>;
  readonly #connection: Subscription;
  #status = 0;
  #body: Subscriber<string> | undefined;
  readonly #text = new Increments((piece) => {
    this.#body?.next(piece);
  });
  responded = false;

  constructor(subscriber: Subscriber<TransportResponse>, connection: Subscription) {
    this.#subscriber = subscriber;
    this.#connection = connection;
    connection.add(() => {
      this.#text.stop();
    });
  }

  next(event: HttpEvent<string>): void {
    if (event.type === HttpEventType.ResponseHeader) this.#respond(event.status, event.headers);
    else if (event.type === HttpEventType.DownloadProgress) {
      // No backend reports progress before the head; a test may.
      this.#respond(200);
      if (this.#ok && 'partialText' in event) this.#text.grow(event.partialText ?? '');
    } else if (event.type === HttpEventType.Response) {
      this.#respond(event.status, event.headers);
      this.#text.finish(event.body ?? '');
      this.#body?.complete();
    }
  }

  error(error: unknown): void {
    // Status 0 is HttpClient's word for a connection that could not be made, or broke.
    const answer = error instanceof HttpErrorResponse && error.status !== 0 ? error : undefined;
    if (answer) this.#respond(answer.status, answer.headers);
    if (!this.responded) this.#subscriber.error(causeOf(error));
    else if (answer && !this.#ok) {
      // The text of an error was reported as progress, too. It is taken from here, where it is whole.
      if (typeof answer.error === 'string') this.#body?.next(answer.error);
      this.#body?.complete();
    } else {
      this.#text.flush();
      this.#body?.error(causeOf(error));
    }
  }

  complete(): void {
    // After a response this is no news. Without one, the application was destroyed.
    this.#body?.complete();
    if (!this.responded) this.#subscriber.complete();
  }

  get #ok(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  #respond(status: number, headers?: HttpHeaders): void {
    if (this.responded) return;
    this.responded = true;
    this.#status = status;
    const body = new Observable<string>((reader) => {
      this.#body = reader;
      reader.add(this.#connection);
    });
    this.#subscriber.next({ status, headers: plain(headers), body });
    this.#subscriber.complete();
    if (!this.#body) this.#connection.unsubscribe();
  }
}

function plain(headers: HttpHeaders | undefined): Record<string, string> {
  const names = headers?.keys() ?? [];
  return Object.fromEntries(names.map((name) => [name.toLowerCase(), headers?.getAll(name)?.join(', ') ?? '']));
}

/** What broke the connection, without the address and headers that HttpErrorResponse holds. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof HttpErrorResponse)) return error;
  return error.error instanceof Error ? error.error : new Error('HttpClient reported a network error');
}

/** Characters that may be copied at once, and for each millisecond that passes. */
const BURST = 1_000_000;
const PER_MS = 50_000;

/**
 * Turns text that is reported whole, again and again, into its increments.
 *
 * Angular's backends keep a concatenation, and cutting the new part off makes the engine copy all of it. Done for each
 * event that is quadratic: half a minute for 40,000 chunks. So copying has a budget, which grows with time: pieces are
 * passed on at once while it lasts, and otherwise as soon as it allows, at most a few milliseconds later for a long text.
 */
class Increments {
  readonly #pass: (piece: string) => void;
  #whole = '';
  #passed = 0;
  #budget = BURST;
  #at = asyncScheduler.now();
  #later: Subscription | undefined;

  constructor(pass: (piece: string) => void) {
    this.#pass = pass;
  }

  grow(whole: string): void {
    this.#whole = whole;
    if (this.#later || whole.length === this.#passed) return;
    const now = asyncScheduler.now();
    this.#budget = Math.min(BURST, this.#budget + Math.max(0, now - this.#at) * PER_MS);
    this.#at = now;
    const lacks = whole.length - this.#budget;
    // A text beyond the burst as a whole is copied when that would be paid for.
    if (lacks <= 0) this.flush();
    else
      this.#later = asyncScheduler.schedule(
        () => {
          this.#later = undefined;
          this.#at = asyncScheduler.now();
          this.#budget = this.#whole.length;
          this.flush();
        },
        Math.ceil(lacks / PER_MS),
      );
  }

  flush(): void {
    this.stop();
    const whole = this.#whole;
    this.#whole = '';
    if (whole.length <= this.#passed) return;
    const piece = whole.slice(this.#passed);
    this.#passed = whole.length;
    this.#budget = Math.max(0, this.#budget - whole.length);
    this.#pass(piece);
  }

  finish(whole: string): void {
    this.#whole = whole;
    this.flush();
  }

  stop(): void {
    this.#later?.unsubscribe();
    this.#later = undefined;
  }
}
