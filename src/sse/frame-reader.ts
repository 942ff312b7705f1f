import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';

/** Text out of the bytes that it is called on. Node's Buffers have it as a method, twice as fast as a decoder. */
type Slice = (this: Uint8Array, start: number, end: number) => string;

let decoder: TextDecoder | undefined;
const slice: Slice = function (start, end) {
  // Without `stream` it keeps nothing, so that one serves all; on Node it is several times as fast.
  return (decoder ??= new TextDecoder('utf-8', { ignoreBOM: true })).decode(this.subarray(start, end));
};

/** The most bytes of one event, unless told otherwise: an image is one event, of several MiB. */
export const MAX_EVENT_BYTES = 64 * 1024 * 1024;

export interface FrameHandler {
  onEvent(message: EventSourceMessage): void;
  onComment?: ((comment: string) => void) | undefined;
  onRetry?: ((ms: number) => void) | undefined;
}

/**
 * How much text the parser gets at once. It cuts each line out of what it was given: a short piece keeps those slices
 * small, lets one non-Latin character widen only its own piece, and ends soon after a subscriber has left.
 */
const PIECE = 2048;

const LF = 10;
const CR = 13;

/** Thrown by {@link FrameReader.push} when one event outgrows the limit. */
export class FrameLimitError extends RangeError {
  constructor(readonly maxEventBytes: number) {
    super(`An event is larger than ${maxEventBytes} bytes`);
  }
}

/**
 * Bytes or text, cut anywhere, to server-sent events. eventsource-parser reads the fields; this class decodes, folds
 * the three line ends into one (the parser would wait for more after a CR), drops a byte order mark, counts against
 * the limit before anything is parsed, and delivers what a clean end leaves without its blank line.
 */
export class FrameReader {
  readonly #parser: EventSourceParser;
  readonly #maxEventBytes: number;
  #decoder: TextDecoder | undefined;
  /** The bytes of an unfinished line, joined once when its end comes. */
  #line: Uint8Array[] = [];
  #lineBytes = 0;
  /** Bytes that went into an event which is still open. */
  #eventBytes = 0;
  /** Of the piece at hand. */
  #commentBytes = 0;
  #dispatched = false;
  #started = false;
  #afterCr = false;
  #lineEnded = true;
  #stopped = false;

  constructor(handler: FrameHandler, maxEventBytes = Infinity) {
    this.#maxEventBytes = maxEventBytes;
    this.#parser = createParser({
      onEvent: (message) => {
        this.#dispatched = true;
        if (this.#stopped) return;
        if (exceeds(message.data, this.#maxEventBytes)) throw new FrameLimitError(this.#maxEventBytes);
        handler.onEvent(message);
      },
      onComment: (comment) => {
        // Comments belong to no event: a flood of them must not look like one that grows.
        this.#commentBytes += comment.length + 3;
        if (!this.#stopped) handler.onComment?.(comment);
      },
      onRetry: (ms) => {
        if (!this.#stopped) handler.onRetry?.(ms);
      },
    });
  }

  /** Nothing more is wanted: the rest of the piece at hand is passed over. */
  stop(): void {
    this.#stopped = true;
    this.#line = [];
  }

  push(chunk: Uint8Array | string): void {
    if (typeof chunk === 'string') {
      if (this.#lineBytes > 0) this.#decode(new Uint8Array(0), true);
      this.#text(chunk, chunk.length);
    } else if (this.#decoder === undefined && !this.#afterCr) this.#lines(chunk);
    else this.#decode(chunk, true);
  }

  /** A clean end of the body: what stands without its blank line is delivered too. */
  end(): void {
    if (this.#lineBytes > 0 || this.#decoder !== undefined) this.#decode(new Uint8Array(0), false);
    this.#feed('\n\n', 2);
  }

  /** Whole lines, decoded without the streaming decoder: no character can be cut at a newline. */
  #lines(chunk: Uint8Array & { readonly utf8Slice?: Slice }): void {
    const textIn = chunk.utf8Slice ?? slice;
    const end = chunk.lastIndexOf(LF) + 1;
    let start = 0;
    if (end > 0 && this.#lineBytes > 0) {
      start = chunk.indexOf(LF) + 1;
      this.#keep(chunk.subarray(0, start));
      const line = this.#takeLine();
      this.#feed(fold(textIn.call(line, 0, line.length)), line.length);
    }
    while (start < end && !this.#stopped) {
      let next = start + PIECE >= end ? end : chunk.indexOf(LF, start + PIECE) + 1;
      if (next < end && chunk[next] === LF) next++; // the blank line goes with its event
      this.#feed(fold(textIn.call(chunk, start, next)), next - start);
      start = next;
    }
    if (end === chunk.length) return;
    const rest = end === 0 ? chunk : chunk.subarray(end);
    // Where it ends lines alone, a newline would be waited for in vain.
    if (rest.includes(CR)) this.#decode(rest, true);
    else this.#keep(rest);
  }

  #keep(bytes: Uint8Array): void {
    this.#line.push(bytes);
    this.#lineBytes += bytes.length;
    if (this.#lineBytes + this.#eventBytes > this.#maxEventBytes) throw new FrameLimitError(this.#maxEventBytes);
  }

  #takeLine(): Uint8Array {
    const parts = this.#line;
    const line = new Uint8Array(this.#lineBytes);
    let at = 0;
    for (const part of parts) {
      line.set(part, at);
      at += part.length;
    }
    this.#line = [];
    this.#lineBytes = 0;
    return line;
  }

  /** The way for every line end. */
  #decode(chunk: Uint8Array, stream: boolean): void {
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
    for (const bytes of this.#line) this.#text(this.#decoder.decode(bytes, { stream: true }), bytes.length);
    this.#line = [];
    this.#lineBytes = 0;
    this.#text(this.#decoder.decode(chunk, { stream }), chunk.length);
  }

  #text(text: string, bytes: number): void {
    const rest = this.#afterCr && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') this.#afterCr = text.endsWith('\r');
    this.#feed(fold(rest), bytes);
  }

  #feed(text: string, bytes: number): void {
    if (text === '' || this.#stopped) return;
    let piece = text;
    if (!this.#started) {
      this.#started = true;
      if (piece.charCodeAt(0) === 0xfeff) piece = piece.slice(1);
    }
    this.#dispatched = false;
    this.#commentBytes = 0;
    this.#parser.feed(piece);
    const ended = this.#dispatched || piece.endsWith('\n\n') || (piece === '\n' && this.#lineEnded);
    this.#lineEnded = piece.endsWith('\n');
    this.#eventBytes = ended ? 0 : Math.max(0, this.#eventBytes + bytes - this.#commentBytes);
    if (this.#eventBytes > this.#maxEventBytes) throw new FrameLimitError(this.#maxEventBytes);
  }
}

/** Every line end as a newline. */
function fold(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/** Whether `data` has more than `max` bytes as UTF-8; most answers are known from the length alone. */
function exceeds(data: string, max: number): boolean {
  if (data.length * 3 <= max) return false;
  let bytes = data.length;
  for (let i = 0; i < data.length && bytes <= max; i++) {
    const unit = data.charCodeAt(i);
    // The two halves of a surrogate pair are four bytes together.
    if (unit > 0x7f) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes > max;
}
