/** Longer than any field name that tells an event stream, and than a byte order mark cut in pieces. */
const ENOUGH = 16;
const FIELDS = ['data', 'event', 'id', 'retry'];

/** White space and a byte order mark, which is three bytes where there are bytes. */
const BLANK = new Set<string | number | undefined>([
  ' ',
  '\t',
  '\r',
  '\n',
  '\uFEFF',
  0x20,
  0x09,
  0x0d,
  0x0a,
  0xef,
  0xbb,
  0xbf,
]);

/**
 * Tells an event stream from another body by its content type and its first characters: gateways send errors and proxy
 * pages under `text/event-stream`, and streams under `application/json`.
 */
export class Sniffer {
  readonly #declared: boolean;
  #start = '';

  constructor(contentType: string | undefined) {
    this.#declared = contentType === undefined || /^\s*text\/event-stream/i.test(contentType);
  }

  /** Whether the body is an event stream; `undefined` while it has not said. */
  next(chunk: Uint8Array | string): boolean | undefined {
    let at = 0;
    if (this.#start === '') while (at < chunk.length && BLANK.has(chunk[at])) at++;
    const head = chunk.slice(at, at + ENOUGH);
    this.#start += typeof head === 'string' ? head : String.fromCharCode(...head);
    const start = this.#start.slice(0, ENOUGH);
    if (start === '') return undefined;
    if (/^[{<[]/.test(start)) return false;
    if (this.#declared || start.startsWith(':')) return true;
    const colon = start.indexOf(':');
    if (colon > 0) return FIELDS.includes(start.slice(0, colon));
    return start.length < ENOUGH && FIELDS.some((field) => field.startsWith(start)) ? undefined : false;
  }

  /** The same, of a body that has ended. */
  end(): boolean {
    return this.#declared;
  }
}
