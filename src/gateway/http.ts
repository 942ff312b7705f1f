import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, string, type Json } from './json.js';
import { RequestProblem } from './protocol.js';

/** The key of a request, wherever clients put it. */
export function keyOf(request: IncomingMessage): string {
  const bearer = /^Bearer\s+(.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const other = request.headers['x-api-key'] ?? request.headers['api-key'];
  return (bearer ?? (Array.isArray(other) ? other[0] : other) ?? '').trim();
}

/** What the request says of its dialect, by header or by query. */
export function dialectAsked(request: IncomingMessage): string {
  const query = new URLSearchParams((request.url ?? '').split('?', 2)[1]);
  return string(request.headers['x-gateway-dialect'] ?? query.get('dialect')).toLowerCase();
}

export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
const EXPOSED = 'x-request-id, request-id, x-generation-id, retry-after, retry-after-ms, x-should-retry, date';

/** Any page may call the gateway, with any header it likes: it is a tool for development. */
export function allowBrowsers(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
  response.setHeader('vary', 'origin');
  response.setHeader('access-control-expose-headers', EXPOSED);
}

export function preflight(request: IncomingMessage, response: ServerResponse): void {
  const wanted = request.headers['access-control-request-headers'];
  response.setHeader('access-control-allow-methods', 'GET, POST, OPTIONS');
  response.setHeader('access-control-allow-headers', wanted ?? '*');
  response.setHeader('access-control-max-age', '600');
  if (request.headers['access-control-request-private-network'])
    response.setHeader('access-control-allow-private-network', 'true');
  response.writeHead(204).end();
}

/** The body's bytes; refuses it as soon as it is over the limit. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () =>
    new RequestProblem({
      status: 413,
      message: `The request body must not be larger than ${limit} bytes`,
      code: 'request_too_large',
    });
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) return reject(tooLarge());
    const parts: Buffer[] = [];
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= limit) parts.push(part);
      else reject(tooLarge());
    });
    request.on('end', () => resolve(Buffer.concat(parts)));
    request.on('error', reject);
    request.on('close', () => reject(new Error('The client went away'))); // after `end` this comes too late to matter
  });
}

/** The body as an object: JSON, or the fields of a form (image edits come as one). */
export async function parseBody(request: IncomingMessage, bytes: Buffer): Promise<Json> {
  const type = request.headers['content-type'] ?? '';
  const unreadable = (message: string) => new RequestProblem({ status: 400, message, code: 'invalid_json' });
  if (/^multipart\/form-data/i.test(type)) {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
      .formData()
      .catch(() => {
        throw unreadable('The form of the request cannot be read');
      });
    const fields: Json = {};
    form.forEach((value, name) => {
      fields[name] =
        typeof value !== 'string'
          ? { file: value.name, bytes: value.size }
          : /^(?:\d+|true|false)$/.test(value)
            ? (JSON.parse(value) as unknown)
            : value;
    });
    return fields;
  }
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw unreadable('The request body is not JSON');
  }
  if (!isObject(value)) throw unreadable('The request body must be a JSON object');
  return value;
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  // What is left of a body that was too large is not read; the connection cannot serve another request.
  if (status === 413) response.setHeader('connection', 'close');
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
}
