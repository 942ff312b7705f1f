import { type Observable, type Subscriber } from 'rxjs';
import { runAttempt, type AttemptScope } from '../attempt.js';
import { fields } from '../endpoints/fields.js';
import { isToken } from '../is-token.js';
import { subscribeTo } from './operate.js';

/** More events than any preamble has. A server that goes on without a token must not fill the memory. */
export const MAX_HELD = 1000;

/** What `toServerSentEvents()` emits has the type of the event that is inside, and none of its fields. */
const commits = (value: unknown): boolean => 'data' in fields(value) || isToken(value);

/** The events before the first token, held back until it comes, and the knowledge of whether it has. */
export class Preamble<T> {
  /** Something has come from the present source, be it held back or not. */
  started = false;
  readonly #destination: Subscriber<T>;
  readonly #scope: AttemptScope;
  #hold: boolean;
  #open = false;
  #held: T[] = [];
  #next = 0;

  constructor(destination: Subscriber<T>, scope: AttemptScope, hold: boolean) {
    this.#destination = destination;
    this.#scope = scope;
    this.#hold = hold;
  }

  next(value: T): void {
    if (this.#open) {
      this.#destination.next(value);
      return;
    }
    this.started = true;
    // A client may have said so before.
    if (!this.#scope.tokenSeen && commits(value)) this.#scope.markToken();
    this.#held.push(value);
    if (this.#held.length > MAX_HELD) this.#hold = false;
    if (this.#scope.tokenSeen || !this.#hold) this.release();
  }

  /**
   * Delivers what is held. Whoever receives it may make more come in, or the end: that queues up behind what is held,
   * and is delivered by the inner call, which leaves nothing to the outer one.
   */
  release(): void {
    while (this.#next < this.#held.length && !this.#destination.closed) {
      this.#destination.next(this.#held[this.#next++] as T);
    }
    this.#clear();
    this.#open = this.#scope.tokenSeen;
  }

  /** Another source takes over: what is held is not to be seen. */
  restart(): void {
    this.started = false;
    this.#clear();
  }

  #clear(): void {
    this.#held = [];
    this.#next = 0;
  }

  /**
   * Whether another source may take over after this error: no token was passed on, none was swallowed on the way here,
   * and nobody asked for the end.
   */
  mayRestart(error: unknown): boolean {
    const { tokenSeen, name } = fields(error);
    return !this.#scope.tokenSeen && tokenSeen !== true && !this.#scope.aborted && name !== 'AbortError';
  }
}

/**
 * Subscribes to one of the sources. `onError` is called when that source is torn down, down to the wire, also where it
 * failed in the middle of being subscribed to.
 */
export function subscribeToTry<T>(
  source: Observable<T>,
  destination: Subscriber<T>,
  preamble: Preamble<T>,
  scope: AttemptScope,
  onError: (error: unknown) => void,
): void {
  // The one before may have had an effect on who is listening.
  if (destination.closed) return;
  preamble.restart();
  let subscriber: Subscriber<T> | undefined = undefined;
  let failure: { readonly error: unknown } | undefined;
  const settle = (): void => {
    if (!subscriber || !failure) return;
    subscriber.unsubscribe();
    onError(failure.error);
  };
  subscriber = runAttempt(scope, () =>
    subscribeTo<T, T>(source, destination, {
      next: (value) => preamble.next(value),
      error(error) {
        failure = { error };
        settle();
      },
      complete() {
        preamble.release();
        destination.complete();
      },
    }),
  );
  settle();
}
