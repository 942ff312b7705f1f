import { random } from './content/random.js';

/** How fast an answer comes, and in what pieces. */
export interface Pace {
  /** Milliseconds until the first token. Default 0. */
  readonly ttftMs?: number;
  /** Output tokens per second. Default: as fast as the client reads. */
  readonly tokensPerSecond?: number;
  /** How far waits vary, 0 (not at all, the default) to 1 (between nothing and double); seeded. */
  readonly jitter?: number;
  /**
   * How frames become writes: `'frame'` (default) one each, `'byte'` each byte alone, `{ coalesce: n }` n frames in one write,
   * `{ split: n }` at most n bytes a write, wherever that cuts, characters included.
   */
  readonly writes?: 'frame' | 'byte' | { readonly coalesce: number } | { readonly split: number };
}

/**
 * Reads the words of the `x-gateway-pace` header: `ttft=200; tps=40; jitter=0.3; writes=byte` (or `coalesce=8`, `split=3`).
 *
 * @throws TypeError when they make no sense.
 */
export function parsePace(words: string): Pace {
  const pace: { -readonly [K in keyof Pace]: Pace[K] } = {};
  for (const part of words.split(';').map((one) => one.trim())) {
    if (part === '') continue;
    const [name = '', value = ''] = part.split('=').map((one) => one.trim());
    const n = Number(value);
    const positive = value !== '' && Number.isFinite(n) && n >= 0;
    if ((name === 'ttft' || name === 'ttft-ms') && positive) pace.ttftMs = n;
    else if ((name === 'tps' || name === 'tokens-per-second') && positive && n > 0) pace.tokensPerSecond = n;
    else if (name === 'jitter' && positive) pace.jitter = n;
    else if (name === 'writes' && (value === 'byte' || value === 'frame')) pace.writes = value;
    else if (name === 'coalesce' && n >= 1) pace.writes = { coalesce: Math.floor(n) };
    else if (name === 'split' && n >= 1) pace.writes = { split: Math.floor(n) };
    else
      throw new TypeError(
        `The pace does not know '${part.slice(0, 40)}'. Known: ttft, tps, jitter, writes=byte|frame, coalesce, split`,
      );
  }
  return checkPace(pace);
}

export function checkPace(pace: Pace): Pace {
  const wrong = (what: string): never => {
    throw new TypeError(what);
  };
  if (pace.ttftMs !== undefined && !(pace.ttftMs >= 0)) wrong(`ttftMs must be at least 0, not ${pace.ttftMs}`);
  if (pace.tokensPerSecond !== undefined && !(pace.tokensPerSecond > 0))
    wrong(`tokensPerSecond must be above 0, not ${pace.tokensPerSecond}`);
  if (pace.jitter !== undefined && !(pace.jitter >= 0 && pace.jitter <= 1))
    wrong(`jitter must be from 0 to 1, not ${pace.jitter}`);
  return pace;
}

/** The waits of one answer. They are counted from its start, so that slow writes do not add up to a slower answer. */
export class Clock {
  readonly #dice;
  readonly #started = performance.now();
  #due = 0;
  #first = true;

  constructor(
    private readonly pace: Pace,
    seed: string,
  ) {
    this.#dice = random(`${seed}\npace`);
  }

  /** How many milliseconds to wait before these tokens may go out. */
  wait(tokens: number): number {
    if (tokens === 0) return 0;
    if (this.#first) {
      this.#first = false;
      this.#due += this.#vary(this.pace.ttftMs ?? 0);
      // The first token comes when the time to it is over; only those after it take their share of a second.
      tokens -= 1;
    }
    if (this.pace.tokensPerSecond !== undefined) this.#due += this.#vary((1000 / this.pace.tokensPerSecond) * tokens);
    return Math.max(0, this.#due - (performance.now() - this.#started));
  }

  #vary(ms: number): number {
    const jitter = this.pace.jitter ?? 0;
    return jitter === 0 ? ms : ms * (1 + jitter * (this.#dice.next() * 2 - 1));
  }
}
