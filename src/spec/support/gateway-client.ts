import { request as send } from 'node:http';
import { createParser } from 'eventsource-parser';
import type { Json } from '../../gateway/json.js';

/** Plain HTTP for the gateway's own specs: what a socket sees, with nothing read into it. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Each read of the socket. */
  readonly chunks: readonly Buffer[];
  /** `undefined` when the body ended as HTTP says. */
  readonly error: string | undefined;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** Ends the request from the client's side once this says so. */
  readonly leave?: (textSoFar: string) => boolean;
}

const KEY = { authorization: 'Bearer sk-test-secret-123456' };

export function call(
  base: string,
  path: string,
  { method = 'POST', headers = {}, body, leave }: Sent = {},
): Promise<Reply> {
  const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let head: Pick<Reply, 'status' | 'headers'> = { status: 0, headers: {} };
    const end = (error?: string) => resolve({ ...head, chunks, text: Buffer.concat(chunks).toString('utf8'), error });
    const request = send(base.replace(/\/v1$/, '') + path, {
      method,
      agent: false,
      headers: { ...KEY, 'content-type': 'application/json', ...headers },
    });
    request.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    request.on('response', (response) => {
      head = { status: response.statusCode ?? 0, headers: response.headers };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (leave?.(Buffer.concat(chunks).toString('utf8'))) {
          request.destroy();
          end('left');
        }
      });
      response.on('end', () => end());
      response.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    });
    request.end(payload);
  });
}

export interface SentEvent {
  readonly name: string | undefined;
  readonly data: string;
}

export function eventsOf(text: string): SentEvent[] {
  const events: SentEvent[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ name: event, data }) });
  parser.feed(text);
  return events;
}

/** The JSON of each event, `[DONE]` left out. */
export function jsonOf(text: string): Json[] {
  return eventsOf(text)
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data) as Json);
}

/** Reaches into JSON: `at(event, 'choices', 0, 'delta')`. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((here, key) => (here as Json | undefined | null)?.[key as string], value);
}

export const chat = (content: string, beside: Json = {}): Json => ({
  model: 'vendor/leaf-1',
  stream: true,
  messages: [{ role: 'user', content }],
  ...beside,
});
export const respond = (input: string, beside: Json = {}): Json => ({
  model: 'vendor/leaf-1',
  stream: true,
  input,
  ...beside,
});
export const message = (content: string, beside: Json = {}): Json => ({
  model: 'vendor/leaf-1',
  stream: true,
  max_tokens: 1000,
  messages: [{ role: 'user', content }],
  ...beside,
});
export const image = (prompt: string, beside: Json = {}): Json => ({
  model: 'vendor/painter',
  stream: true,
  prompt,
  size: '48x32',
  ...beside,
});
