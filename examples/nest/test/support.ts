import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { startGateway, type Gateway, type GatewayOptions, type JournalEntry } from 'rx-llm/gateway';
import { createApp } from '../src/create-app';
import type { RelayConfig } from '../src/relay-config';

export interface Running {
  readonly gateway: Gateway;
  /** Where the relay listens. */
  readonly url: string;
  post(
    path: string,
    body: object,
    init?: { headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>;
  /** The gateway's newest request, once it is over: aborts have to travel. */
  ended(): Promise<JournalEntry>;
}

/** Runs a test with a gateway and the relay before it, both on ports of their own. */
export function withRelay(
  body: (running: Running) => Promise<void>,
  { config, ...options }: GatewayOptions & { readonly config?: Partial<RelayConfig> } = {},
): () => Promise<void> {
  return async () => {
    const gateway = await startGateway(options);
    const app = await createApp({ baseUrl: gateway.url, ...config });
    await app.listen(0, '127.0.0.1');
    const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
    try {
      await body({
        gateway,
        url,
        post: (path, request, { headers, signal } = {}) =>
          fetch(url + path, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify(request),
            ...(signal && { signal }),
          }),
        ended: async () => {
          await until(() => gateway.journal.at(-1)?.outcome !== 'open');
          return gateway.journal.at(-1)!;
        },
      });
    } finally {
      await app.close();
      await gateway.close();
    }
  };
}

/** Waits for something that will be so soon. */
export async function until(condition: () => boolean, ms = 20_000): Promise<void> {
  for (const start = Date.now(); !condition(); await sleep(10)) {
    if (Date.now() - start > ms) throw new Error(`${condition} was not so within ${ms} ms`);
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A body's text as it comes. */
export async function* texts(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of Readable.fromWeb(response.body as ReadableStream))
    yield decoder.decode(chunk, { stream: true });
}

/** The `data` of each frame. */
export function dataOf(body: string): string[] {
  return body
    .split('\n\n')
    .map((frame) => /^data: (.*)$/m.exec(frame)?.[1])
    .filter((data) => data !== undefined);
}
