import { defer, Observable } from 'rxjs';
import type { Transport, TransportResponse } from './transport.js';

export interface FetchTransportOptions {
  /** Another `fetch` than the platform's: one that adds tracing, or a test's. */
  readonly fetch?: ((input: string, init: RequestInit) => Promise<Response>) | undefined;
  /** What else each request should carry: `credentials`, `mode`, `cache`, `priority`, `keepalive`. */
  readonly init?: Omit<RequestInit, 'method' | 'headers' | 'body' | 'signal'> | undefined;
}

/**
 * Sends requests with the platform's `fetch`: the default transport everywhere but on Node. Redirects are not
 * followed unless `init` says so, so that no credential reaches another host.
 *
 * @example
 * ```ts
 * import { createLlmClient, fetchTransport } from 'rx-llm';
 *
 * const client = createLlmClient({
 *   baseUrl: '/llm/v1',
 *   transport: fetchTransport({ init: { credentials: 'include' } }),
 * });
 * ```
 */
export function fetchTransport(options: FetchTransportOptions = {}): Transport {
  return (request) =>
    new Observable<TransportResponse>((subscriber) => {
      const { method, url, headers, body } = request;
      // Looked up here: a test, or a polyfill, may have replaced it after this module was loaded.
      const send = options.fetch ?? globalThis.fetch;
      const controller = new AbortController();
      let responded = false;
      send(url, {
        redirect: 'manual',
        ...options.init,
        method,
        headers: { ...headers },
        body,
        signal: controller.signal,
      })
        .then((response) => {
          // The subscriber left in the meantime, and with it whoever could read an answer.
          if (subscriber.closed) return;
          responded = true;
          let wanted = false;
          const body = readBody(response, controller);
          subscriber.next({
            status: response.status,
            headers: Object.fromEntries(response.headers),
            body: defer(() => {
              wanted = true;
              return body;
            }),
          });
          if (!wanted) controller.abort(); // the connection would stay open for a body that nobody reads
          subscriber.complete();
        })
        // Also of what a `fetch` of one's own gave in the place of a response.
        .catch((error: unknown) => {
          subscriber.error(error);
        });
      return () => {
        if (!responded) controller.abort();
      };
    });
}

function readBody(response: Response, controller: AbortController): Observable<Uint8Array> {
  return new Observable((subscriber) => {
    const reader = response.body?.getReader();
    if (!reader) {
      subscriber.complete();
      return;
    }
    let ended = false;
    const fail = (error: unknown): void => {
      ended = true;
      subscriber.error(error);
    };
    const take = ({ done, value }: ReadableStreamReadResult<Uint8Array>): void => {
      if (done) {
        ended = true;
        subscriber.complete();
        return;
      }
      subscriber.next(value);
      if (!subscriber.closed) read();
    };
    const read = (): void => {
      reader.read().then(take, fail);
    };
    read();
    return () => {
      // Aborting a request that is over costs more than the request's own bookkeeping.
      if (!ended) controller.abort();
    };
  });
}
