/**
 * How an idempotency key reaches the client without touching the request: a retrying operator opens a scope around
 * each subscribe to its source, and a client that is subscribed to synchronously inside takes its key there.
 *
 * A scope is not one key but a tree of them, in the order in which they are taken. Two requests under one operator
 * must not share a key (a gateway would answer the second with the first, or refuse it), while the same request of the
 * next try must: it finds its own key at its own place again. A retry inside a retry takes one place of the outer
 * scope, so that the outer-most operator decides how long a key lives.
 */
export class AttemptScope {
  readonly #places: AttemptScope[] = [];
  #next = 0;
  #key: string | undefined;

  /** @param header - the header's name, if it is not to be the client's default */
  constructor(readonly header?: string) {}

  /** The next place inside this scope. */
  take(header?: string): AttemptScope {
    const place = (this.#places[this.#next++] ??= new AttemptScope(this.header ?? header));
    return place.rewind();
  }

  /** A new try: places are handed out from the first one again. */
  rewind(): this {
    this.#next = 0;
    return this;
  }

  get idempotencyKey(): string {
    return (this.#key ??= mintKey());
  }
}

/** What a request should send so that the gateway knows all tries of it for one. */
export interface Attempt {
  readonly idempotencyKey: string;
  /** The header's name, in lower case, if a retrying operator was told one. */
  readonly header?: string;
}

let current: AttemptScope | undefined;

/** The scope of an operator's subscription: inside that of the operator around it, if there is one. */
export function openScope(header?: string): AttemptScope {
  return current?.take(header) ?? new AttemptScope(header);
}

/** A place in the scope of the operator around the caller, if there is one. */
export function enclosingScope(): AttemptScope | undefined {
  return current?.take();
}

/** Calls `fn` with `scope` in force for as long as the call lasts. Nestable. */
export function runAttempt<R>(scope: AttemptScope | undefined, fn: () => R): R {
  const outer = current;
  current = scope?.rewind();
  try {
    return fn();
  } finally {
    current = outer;
  }
}

/**
 * The key for one request, if a retrying operator subscribes just now. To be called once per request, synchronously in
 * its subscribe: every call takes the next key.
 */
export function currentAttempt(): Attempt | undefined {
  const place = current?.take();
  if (!place) return undefined;
  const { idempotencyKey, header } = place;
  return header === undefined ? { idempotencyKey } : { idempotencyKey, header };
}

/** A new random key. `crypto.randomUUID` is missing on pages that were not loaded over TLS. */
export function mintKey(): string {
  const crypto = (globalThis as { readonly crypto?: { randomUUID?(): string } }).crypto;
  if (crypto?.randomUUID) return crypto.randomUUID();
  let key = '';
  while (key.length < 32)
    key += Math.floor(Math.random() * 0x1000000)
      .toString(16)
      .padStart(6, '0');
  return key.slice(0, 32);
}
