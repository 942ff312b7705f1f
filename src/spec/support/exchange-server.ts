import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';

/** One answer, byte for byte. */
export interface Exchange {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The sizes of the writes; the rest of the body goes in one. */
  readonly writes?: readonly number[];
  readonly heartbeatMs?: number;
  readonly heartbeats?: number;
  readonly delayBeforeCloseMs?: number;
  readonly keepOpen?: boolean;
  /** Destroy the socket after the last byte. */
  readonly closeAbruptly?: boolean;
}

export interface SeenRequest {
  readonly at: number;
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly socket: Socket;
  /** The client closed the connection before the answer was over. */
  left: boolean;
}

/** A server that answers the n-th request with the n-th exchange, and the last one from then on. */
export class ExchangeServer {
  readonly requests: SeenRequest[] = [];
  readonly sockets = new Set<Socket>();
  readonly #server: Server;
  #exchanges: readonly Exchange[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { method, url, headers, socket } = request;
        const seen: SeenRequest = {
          at: Date.now(),
          method,
          url,
          headers,
          body: Buffer.concat(parts).toString(),
          socket,
          left: false,
        };
        const exchange = this.#exchanges[Math.min(this.requests.length, this.#exchanges.length - 1)];
        this.requests.push(seen);
        response.on('close', () => {
          seen.left = !response.writableFinished && !exchange?.closeAbruptly;
        });
        void answer(response, exchange ?? {});
      });
    });
    this.#server.on('connection', (socket: Socket) => {
      socket.setNoDelay(true);
      this.sockets.add(socket);
    });
  }

  static async start(): Promise<ExchangeServer> {
    const server = new ExchangeServer();
    await new Promise<void>((listening) => server.#server.listen(0, '127.0.0.1', listening));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What to answer from now on; forgets the requests so far. */
  play(...exchanges: readonly Exchange[]): this {
    this.#exchanges = exchanges;
    this.requests.length = 0;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

async function answer(response: ServerResponse, exchange: Exchange): Promise<void> {
  const { status = 200, headers = { 'content-type': 'text/event-stream' }, body = new Uint8Array(0) } = exchange;
  response.writeHead(status, headers);
  response.flushHeaders();
  let at = 0;
  for (const size of exchange.writes ?? []) {
    if (at >= body.length || response.destroyed) break;
    response.write(body.subarray(at, at + size));
    at += size;
    await turn();
  }
  if (at < body.length) response.write(body.subarray(at));
  for (let beat = 0; beat < (exchange.heartbeats ?? 0) && !response.destroyed; beat++) {
    await delay(exchange.heartbeatMs ?? 10);
    response.write(': beat\n\n');
  }
  if (exchange.delayBeforeCloseMs) await delay(exchange.delayBeforeCloseMs);
  if (exchange.closeAbruptly) {
    await delay(5); // the bytes are to arrive first
    response.socket?.resetAndDestroy();
  } else if (!exchange.keepOpen) response.end();
}
