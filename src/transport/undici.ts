import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Observable, type Subscriber } from 'rxjs';
import { Agent, type Dispatcher } from 'undici';
import type { Transport, TransportResponse } from './transport.js';

export interface UndiciTransportOptions {
  /**
   * Where requests go: a `ProxyAgent`, a `Pool` with a limit, a `MockAgent` for tests. Default: one `Agent` for the
   * whole process. The dispatcher stays yours: this library never closes it.
   */
  readonly dispatcher?: Dispatcher | undefined;
}

let shared: Agent | undefined;

/**
 * Sends requests with undici: the default transport on Node.
 *
 * undici's own clocks for headers and body are switched off, since a reasoning model may think longer than any of them:
 * the client's timeouts take their place. Bodies are asked for uncompressed and decompressed if they come compressed
 * anyway. Redirects are not followed.
 *
 * @example
 * ```ts
 * import { createLlmClient } from 'rx-llm';
 * import { undiciTransport } from 'rx-llm/undici';
 * import { ProxyAgent } from 'undici';
 *
 * const client = createLlmClient({
 *   baseUrl: 'https://gateway.example/v1',
 *   transport: undiciTransport({ dispatcher: new ProxyAgent('http://proxy.example:3128') }),
 * });
 * ```
 */
export function undiciTransport(options: UndiciTransportOptions = {}): Transport {
  return (request) =>
    new Observable<TransportResponse>((subscriber) => {
      const { origin, pathname, search } = new URL(request.url);
      const exchange = new Exchange(subscriber);
      const dispatcher = options.dispatcher ?? (shared ??= new Agent());
      dispatcher.dispatch(
        {
          origin,
          path: pathname + search,
          method: request.method,
          headers: { 'accept-encoding': 'identity', ...request.headers },
          body: request.body,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        exchange,
      );
      return () => {
        exchange.leave();
      };
    });
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** One request and its answer, as undici reports them. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #head: Subscriber<TransportResponse>;
  #body: Subscriber<Uint8Array> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #decompressor: Transform | undefined;
  #broken: Error | undefined;
  #responded = false;
  #ended = false;
  #aborted = false;

  constructor(head: Subscriber<TransportResponse>) {
    this.#head = head;
  }

  /** The head's subscription has ended; from the response on the body's says how long the connection lives. */
  leave(): void {
    if (!this.#responded) this.#abort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The subscriber left while the connection was being made: nothing has been sent yet.
    if (this.#aborted) this.#abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200 || this.#aborted) return;
    this.#responded = true;
    const body = new Observable<Uint8Array>((subscriber) => {
      this.#body = subscriber;
      return () => {
        this.#abort();
      };
    });
    const flat = flatten(headers);
    this.#decompressor = this.#decompress(flat['content-encoding']);
    this.#head.next({ status, headers: flat, body });
    if (!this.#body) this.#abort(); // nobody wants it
    this.#head.complete();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#decompressor) this.#decompressor.write(chunk);
    else this.#body?.next(chunk);
  }

  onResponseEnd(): void {
    this.#ended = true;
    if (this.#decompressor) this.#decompressor.end();
    else this.#body?.complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#ended = true;
    if (this.#aborted) return;
    if (!this.#responded) this.#head.error(error);
    else if (this.#decompressor) {
      // What came before is still being decompressed, and is delivered first.
      this.#broken = error;
      this.#decompressor.end();
    } else this.#body?.error(error);
  }

  #abort(): void {
    this.#aborted = true;
    this.#decompressor?.destroy();
    if (!this.#ended) this.#controller?.abort(new Error('The subscriber has left'));
  }

  /** Servers and proxies that compress whatever they were asked for. */
  #decompress(encoding: string | undefined): Transform | undefined {
    const transform = decompressorOf(encoding);
    transform?.on('data', (chunk: Uint8Array) => this.#body?.next(chunk));
    transform?.on('end', () => {
      if (this.#broken) this.#body?.error(this.#broken);
      else this.#body?.complete();
    });
    transform?.on('error', (error: Error) => {
      if (this.#aborted) return;
      this.#body?.error(this.#broken ?? error);
      this.#abort();
    });
    return transform;
  }
}

function decompressorOf(encoding = ''): Transform | undefined {
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}

function flatten(headers: Headers): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
