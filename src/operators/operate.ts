import { Observable, Subscriber, type OperatorFunction } from 'rxjs';

/** What an operator does with the notifications of its source; what it leaves out is passed on. */
export interface Handlers<T> {
  next(value: T): void;
  error?(error: unknown): void;
  complete?(): void;
  /** Runs once, however the subscription ends. */
  finalize?(): void;
}

/* eslint-disable @typescript-eslint/no-deprecated -- `destination` is kept from applications, not from operators */

/**
 * RxJS 7 keeps the base of its own operators to itself. This is the same thing in small: a Subscriber that belongs to
 * its destination's chain *before* the source is subscribed to, so that `take(1)` downstream stops a synchronous
 * source in the middle of its loop, and that costs no second wrapper per value.
 */
class OperatorSubscriber<T> extends Subscriber<T> {
  readonly #handlers: Handlers<T>;

  constructor(destination: Subscriber<never>, handlers: Handlers<T>, apart = false) {
    super(apart ? undefined : destination);
    this.destination = destination;
    this.#handlers = handlers;
    if (handlers.finalize) this.add(() => handlers.finalize?.());
  }

  protected override _next(value: T): void {
    try {
      this.#handlers.next(value);
    } catch (error) {
      this.destination.error(error);
    }
  }

  protected override _error(error: unknown): void {
    try {
      if (this.#handlers.error) this.#handlers.error(error);
      else this.destination.error(error);
    } catch (thrown) {
      this.destination.error(thrown);
    } finally {
      this.unsubscribe();
    }
  }

  protected override _complete(): void {
    try {
      if (this.#handlers.complete) this.#handlers.complete();
      else this.destination.complete();
    } catch (thrown) {
      this.destination.error(thrown);
    } finally {
      this.unsubscribe();
    }
  }
}
/* eslint-enable @typescript-eslint/no-deprecated */

/** Subscribes to `source` on behalf of `destination`. Unsubscribing the returned Subscriber leaves `destination` open. */
export function subscribeTo<T, R>(
  source: Observable<T>,
  destination: Subscriber<R>,
  handlers: Handlers<T>,
): Subscriber<T> {
  const subscriber = new OperatorSubscriber<T>(destination, handlers);
  source.subscribe(subscriber);
  return subscriber;
}

/**
 * Not in `destination`'s chain: either may end before the other, and only what a handler throws reaches `destination`.
 * It is there before its source is subscribed to, so that a handler can unsubscribe it from a synchronous source.
 */
export function subscriberApart<T, R>(destination: Subscriber<R>, handlers: Handlers<T>): Subscriber<T> {
  return new OperatorSubscriber<T>(destination, handlers, true);
}

/** An operator from what it does for each subscription. */
export function operate<T, R>(connect: (destination: Subscriber<R>) => Handlers<T>): OperatorFunction<T, R> {
  return (source) =>
    new Observable<R>((destination) => {
      subscribeTo(source, destination, connect(destination));
    });
}
