import { fields } from './endpoints/fields.js';

/**
 * What an operator that subscribes more than once and the requests below it tell each other, without touching either:
 * the operator opens a scope around each subscribe to its source, and a client that is subscribed to synchronously
 * inside finds there the idempotency key to send, and reports there that a token was delivered. Other operators
 * between the two may swallow the events, but not the report.
 *
 * A scope is not one key but a tree of them, in the order in which they are taken. Two requests under one operator
 * must not share a key (a gateway would answer the second with the first, or refuse it), while the same request of the
 * next try must: it finds its own key at its own place again. A retry inside a retry takes one place of the outer
 * scope, so that the outer-most operator decides how long a key lives.
 */
export class AttemptScope {
  /** A token was delivered somewhere inside. */
  tokenSeen = false;
  /** That of the request which was made last: whoever waits to make the next one must hear of it. */
  signal: AbortSignal | undefined;
  /** The key's header, if it is not to be the client's default. */
  readonly header: string | undefined;
  readonly #parent: AttemptScope | undefined;
  readonly #places: AttemptScope[] = [];
  #next = 0;
  #key: string | undefined;

  constructor(header?: string, parent?: AttemptScope) {
    this.header = parent?.header ?? header;
    this.#parent = parent;
  }

  /** The next place inside this scope. */
  take(header?: string): AttemptScope {
    const place = (this.#places[this.#next++] ??= new AttemptScope(header, this));
    return place.rewind();
  }

  /** A new try: places are handed out from the first one again. */
  rewind(): this {
    this.#next = 0;
    this.signal = undefined;
    return this;
  }

  follow(signal: AbortSignal): void {
    this.signal = signal;
    this.#parent?.follow(signal);
  }

  /** The caller wants no more. A signal that timed out was meant for one try, and may have an heir. */
  get aborted(): boolean {
    return this.signal?.aborted === true && fields(this.signal.reason)['name'] !== 'TimeoutError';
  }

  markToken(): void {
    this.tokenSeen = true;
    this.#parent?.markToken();
  }

  get idempotencyKey(): string {
    return (this.#key ??= mintKey());
  }
}

/** What a request has to do with the operators around it. */
export interface Attempt {
  /** The same for all tries of the request. */
  readonly idempotencyKey: string;
  /** The header to send it in, if they were told one. */
  readonly header: string | undefined;
  /** To be called when the first token is about to be delivered: nothing may be sent again from then on. */
  markToken(): void;
  /** To be called with the caller's signal: it ends the waits between the tries as well. */
  follow(signal: AbortSignal): void;
}

let current: AttemptScope | undefined;

/** The scope of an operator's subscription: inside that of the operator around it, if there is one. */
export function openScope(header?: string): AttemptScope {
  return current?.take(header) ?? new AttemptScope(header);
}

/** Calls `fn` with `scope` in force for as long as the call lasts. Nestable. */
export function runAttempt<R>(scope: AttemptScope, fn: () => R): R {
  const outer = current;
  current = scope.rewind();
  try {
    return fn();
  } finally {
    current = outer;
  }
}

/**
 * The place of one request among the operators that subscribe just now. To be called once per request, synchronously
 * in its subscribe: every call takes the next place.
 */
export function currentAttempt(): Attempt | undefined {
  return current?.take();
}

/** A new random key. `crypto.randomUUID` is missing on pages that were not loaded over TLS. */
export function mintKey(): string {
  const crypto = (globalThis as { readonly crypto?: { randomUUID?(): string } }).crypto;
  if (crypto?.randomUUID) return crypto.randomUUID();
  let key = '';
  while (key.length < 32) key += Math.random().toString(16).slice(2, 10);
  return key.slice(0, 32);
}
