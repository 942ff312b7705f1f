import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { JournalEntry } from './journal.js';
import type { Pace } from './pace.js';
import type { Frame } from './protocol.js';

/** The way to one client: writes at the pace it reads, and knows at once when it has gone. */
export class Line {
  #waiting: string[] = [];
  #waitingTokens = 0;
  /** Aborted when the connection is gone, by whomever. */
  readonly #gone = new AbortController();

  constructor(
    private readonly response: ServerResponse,
    private readonly entry: JournalEntry,
    private readonly writes: Pace['writes'],
    /** Called in the same turn as the write of a terminator: whoever has read it finds the journal complete. */
    private readonly onTerminator: () => void = () => undefined,
  ) {
    response.once('close', () => this.#gone.abort());
    if (response.destroyed) this.#gone.abort();
  }

  get gone(): boolean {
    return this.#gone.signal.aborted;
  }

  /** Waits, or less when the client goes. */
  wait(ms: number): Promise<void> {
    if (ms <= 0 || this.gone) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#gone.signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#gone.signal.addEventListener('abort', end);
    });
  }

  /** Resolves when the client has gone. */
  end(): Promise<void> {
    if (this.gone) return Promise.resolve();
    return new Promise((resolve) => this.#gone.signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  async send(frame: Frame): Promise<void> {
    this.#waiting.push(frame.text);
    this.#waitingTokens += frame.tokens;
    const together = typeof this.writes === 'object' && 'coalesce' in this.writes ? this.writes.coalesce : 1;
    if (frame.terminator === true) await this.flush(this.onTerminator);
    else if (this.#waiting.length >= together) await this.flush();
  }

  /** Text that is no answer: comments, broken frames. Never between the halves of a frame. */
  async raw(text: string): Promise<void> {
    await this.flush();
    await this.#write(Buffer.from(text), () => undefined);
  }

  async flush(then?: () => void): Promise<void> {
    if (this.#waiting.length === 0) return;
    const bytes = Buffer.from(this.#waiting.join(''));
    const tokens = this.#waitingTokens;
    this.#waiting = [];
    this.#waitingTokens = 0;
    await this.#write(bytes, () => {
      if (tokens > 0) this.entry.firstTokenMs ??= Date.now() - this.entry.at;
      this.entry.tokensDelivered += tokens;
      then?.();
    });
  }

  async #write(bytes: Buffer, delivered: () => void): Promise<void> {
    const most =
      this.writes === 'byte'
        ? 1
        : typeof this.writes === 'object' && 'split' in this.writes
          ? this.writes.split
          : bytes.length;
    for (let at = 0; at < bytes.length; at += most) {
      if (this.gone) return;
      const part = bytes.subarray(at, at + most);
      const ready = this.response.write(part);
      this.entry.bytesDelivered += part.length;
      if (at + most >= bytes.length) delivered();
      if (!ready) await this.#drain();
      // A turn of the event loop: the write goes out by itself, and a hang-up is noticed before the next.
      else await setImmediate();
    }
  }

  #drain(): Promise<void> {
    if (this.gone) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.response.off('drain', end);
        this.#gone.signal.removeEventListener('abort', end);
        resolve();
      };
      this.response.once('drain', end);
      this.#gone.signal.addEventListener('abort', end);
    });
  }
}
