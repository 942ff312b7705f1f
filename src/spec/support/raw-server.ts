import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';

export type RawAnswer = (socket: Socket, request: RawRequest) => void | Promise<void>;

export interface RawRequest {
  readonly head: string;
  readonly body: string;
  /** How many requests the server had seen before. */
  readonly index: number;
}

/** A server whose every byte, and every way of ending, is the test's own. */
export class RawServer {
  readonly requests: RawRequest[] = [];
  readonly sockets: Socket[] = [];
  readonly #all = new Set<Socket>();
  readonly #server: Server;
  readonly #scheme: 'http' | 'https';
  #answer: RawAnswer;
  #closing = false;

  private constructor(answer: RawAnswer, tls?: { readonly key: string; readonly cert: string }) {
    this.#answer = answer;
    this.#scheme = tls ? 'https' : 'http';
    this.#server = tls
      ? createTlsServer(tls, (socket) => this.#accept(socket))
      : createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
  }

  static async start(answer: RawAnswer, tls?: { readonly key: string; readonly cert: string }): Promise<RawServer> {
    const server = new RawServer(answer, tls);
    await new Promise<void>((listening) => server.#server.listen(0, '127.0.0.1', listening));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`;
  }

  answer(answer: RawAnswer): this {
    this.#answer = answer;
    this.requests.length = 0;
    this.sockets.length = 0;
    return this;
  }

  /** Cuts all connections. */
  drop(): void {
    for (const socket of this.#all) socket.destroy();
    this.#all.clear();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#closing = true;
    this.drop();
    await closed;
  }

  #accept(socket: Socket): void {
    if (this.#closing) {
      socket.destroy();
      return;
    }
    this.sockets.push(socket);
    this.#all.add(socket);
    let received = '';
    socket.on('error', () => undefined);
    socket.on('data', (part: Buffer) => {
      received += part.toString('latin1');
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(received.slice(0, end))?.[1] ?? 0);
      if (received.length < end + 4 + length) return;
      const request = {
        head: received.slice(0, end),
        body: received.slice(end + 4, end + 4 + length),
        index: this.requests.length,
      };
      received = received.slice(end + 4 + length);
      this.requests.push(request);
      void this.#answer(socket, request);
    });
  }
}

/** The head of an event stream whose body comes in chunks, unless `headers` say otherwise. */
export function head(headers: Readonly<Record<string, string | number>> = { 'transfer-encoding': 'chunked' }): string {
  const lines = Object.entries({ 'content-type': 'text/event-stream', ...headers });
  return `HTTP/1.1 200 OK\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** One chunk of a chunked body; `chunked('')` is its end. */
export function chunked(body: string | Uint8Array): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** Writes, and lets the bytes arrive before anything else happens. */
export async function send(socket: Socket, ...parts: (string | Uint8Array)[]): Promise<void> {
  for (const part of parts) {
    socket.write(part);
    await delay(4);
  }
}

/** Waits for what is about to be so, and fails if it never is. */
export async function until(holds: () => boolean, ms = 2000): Promise<void> {
  const end = Date.now() + ms;
  while (!holds() && Date.now() < end) await delay(5);
  if (!holds()) throw new Error(`Still not so after ${ms} ms: ${holds.toString()}`);
}

/** What keeps the process alive, but for timers, of which Jest has some of its own. */
export function handles(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => /^(TCP|TLS|GetAddrInfo|ZLIB)/i.test(name))
    .sort();
}
