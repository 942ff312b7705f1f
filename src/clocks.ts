import { asyncScheduler, type SchedulerLike, type Subscription } from 'rxjs';
import type { TimeoutPhase } from './errors.js';

export type ClockName = TimeoutPhase | 'grace';

interface Clock {
  readonly ms: number;
  since: number;
}

/** The longest delay that timers take; they fire at once on a longer one. */
export const MAX_TIMER_MS = 0x7fffffff;

/**
 * Several clocks on one timer. A stream touches its clocks with every event and they nearly never run out, so that a
 * touch is no more than a time stamp: the timer is left as it is, and finds out when it fires how long is still to go.
 *
 * Of clocks that run out at the same moment the one that was armed first speaks first.
 */
export class Clocks {
  readonly #clocks = new Map<ClockName, Clock>();
  readonly #scheduler: SchedulerLike;
  readonly #onExpire: (name: ClockName) => void;
  #timer: Subscription | undefined;
  #firesAt = Infinity;

  /** @param onExpire - called once per armed clock; the clock is disarmed by then, the others run on */
  constructor(scheduler: SchedulerLike | undefined, onExpire: (name: ClockName) => void) {
    this.#scheduler = scheduler ?? asyncScheduler;
    this.#onExpire = onExpire;
  }

  /** Starts a clock, or starts it again with another length. Off, and so disarmed: `undefined`, 0, `Infinity`. */
  arm(name: ClockName, ms: number | undefined): void {
    if (ms === undefined || !(ms > 0 && ms < Infinity)) {
      this.disarm(name);
      return;
    }
    const since = this.#scheduler.now();
    this.#clocks.set(name, { ms, since });
    if (since + ms < this.#firesAt) this.#schedule(since, since + ms);
  }

  /** Sets an armed clock back to its start; one that is not armed stays so. */
  touch(name: ClockName): void {
    const clock = this.#clocks.get(name);
    if (clock) clock.since = this.#scheduler.now();
  }

  disarm(name: ClockName): void {
    if (this.#clocks.delete(name) && this.#clocks.size === 0) this.stop();
  }

  isArmed(name: ClockName): boolean {
    return this.#clocks.has(name);
  }

  /** Disarms all clocks and clears the timer. */
  stop(): void {
    this.#clocks.clear();
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    this.#firesAt = Infinity;
  }

  #schedule(now: number, at: number): void {
    this.#timer?.unsubscribe();
    this.#firesAt = at;
    this.#timer = this.#scheduler.schedule(
      () => {
        this.#fire();
      },
      Math.min(at - now, MAX_TIMER_MS),
    );
  }

  #fire(): void {
    this.#timer = undefined;
    this.#firesAt = Infinity;
    const now = this.#scheduler.now();
    let name: ClockName | undefined;
    let at = Infinity;
    for (const [candidate, clock] of this.#clocks) {
      // The wall clock was set back: better a wait that is too long by what has passed than one without end.
      if (clock.since > now) clock.since = now;
      if (clock.since + clock.ms < at) {
        at = clock.since + clock.ms;
        name = candidate;
      }
    }
    if (name === undefined) return;
    if (at > now) {
      this.#schedule(now, at);
      return;
    }
    this.#clocks.delete(name);
    this.#onExpire(name);
    // Whoever is called may have stopped the clocks, or armed one and so the timer.
    if (this.#clocks.size > 0 && !this.#timer) this.#fire();
  }
}
