import { from, Observable, take, type ObservableInput, type SchedulerLike, type Subscriber } from 'rxjs';
import { currentAttempt, mintKey } from './attempt.js';
import { chatEndpoint } from './endpoints/chat-completions/endpoint.js';
import type { ChatCompletionChunk, ChatCompletionRequest } from './endpoints/chat-completions/wire.js';
import type { Endpoint } from './endpoints/endpoint.js';
import { fields } from './endpoints/fields.js';
import { imagesEndpoint } from './endpoints/images/endpoint.js';
import type { ImageRequest, ImageStreamEvent } from './endpoints/images/wire.js';
import { messagesEndpoint } from './endpoints/messages/endpoint.js';
import type { MessageRequest, MessageStreamEvent } from './endpoints/messages/wire.js';
import { responsesEndpoint } from './endpoints/responses/endpoint.js';
import type { ResponseRequest, ResponseStreamEvent } from './endpoints/responses/wire.js';
import type { EndpointName } from './events.js';
import { subscribeTo } from './operators/operate.js';
import { openStream, type ResponseHead } from './stream.js';
import { DEFAULT_TIMEOUTS, type StreamTimeouts } from './timeouts.js';
import type { Transport } from './transport/transport.js';

export type HeaderValues = Readonly<Record<string, string | undefined>>;

export interface LlmClientOptions {
  /** Where the gateway is, up to its version: `'https://gateway.example/v1'`. In browsers it may be relative. */
  readonly baseUrl: string | URL;
  /** Paths that differ from the default: `{ images: '/images/generations' }`. */
  readonly paths?: Partial<Record<EndpointName, string>>;
  /** A key, or where to get one: asked at each subscription, and so again on each retry. */
  readonly apiKey?: string | (() => ObservableInput<string> | string);
  /** Where the key goes. Default: `'bearer'`. `'x-api-key'` also sends `anthropic-version`, unless it is given. */
  readonly auth?: 'bearer' | 'x-api-key' | 'api-key';
  /** More headers, or where to get them, asked as `apiKey` is. They win over the library's own. */
  readonly headers?: HeaderValues | (() => ObservableInput<HeaderValues> | HeaderValues);
  /** How requests travel. Default: undici on Node, `fetch` elsewhere. */
  readonly transport?: Transport;
  /** Clocks for every request; a request's own win, one by one. */
  readonly timeouts?: StreamTimeouts;
  /** The most bytes that one event may have; more is an `EventTooLargeError`. Default: 64 MiB, since an image is one event. */
  readonly maxEventBytes?: number;
  /** Chat: ask for usage, unless the request says otherwise. Default: `true`. */
  readonly includeUsage?: boolean;
  /** The header that names all tries of one subscription; `false` sends none. Default: `'idempotency-key'`. */
  readonly idempotencyHeader?: string | false;
  /** The client's clocks. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike;
}

export interface RequestOptions {
  /** Aborting it ends the stream with an error: the signal's own reason. */
  readonly signal?: AbortSignal;
  readonly headers?: HeaderValues;
  readonly timeouts?: StreamTimeouts;
  /** A key of your own, sent with every subscription of this Observable. Default: a new one for each, shared by its retries. */
  readonly idempotencyKey?: string;
  /** Called when the head of the answer is there, before any event. */
  onResponse?(head: ResponseHead): void;
}

/**
 * The streaming endpoints of a gateway. Each method gives a cold Observable: nothing is sent before it is subscribed
 * to, every subscription sends a request of its own, and unsubscribing aborts it in every phase.
 *
 * It emits the endpoint's events as they come and completes only when the answer is whole. Everything else is an error
 * notification: an {@link LlmStreamError}, or the reason of an aborted `signal`.
 *
 * Abstract and without private members, so that it serves as a token for dependency injection and fakes fit by shape.
 */
export abstract class LlmClient {
  abstract chatCompletions(request: ChatCompletionRequest, options?: RequestOptions): Observable<ChatCompletionChunk>;
  abstract responses(request: ResponseRequest, options?: RequestOptions): Observable<ResponseStreamEvent>;
  abstract messages(request: MessageRequest, options?: RequestOptions): Observable<MessageStreamEvent>;
  abstract images(request: ImageRequest, options?: RequestOptions): Observable<ImageStreamEvent>;
}

const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/** `createLlmClient` without a default transport; the entries of the package add theirs. */
export function createClient(options: LlmClientOptions, defaultTransport: () => Transport): LlmClient {
  const urlFor = urls(options.baseUrl, options.paths);
  const { maxEventBytes = MAX_EVENT_BYTES, idempotencyHeader = 'idempotency-key', scheduler } = options;
  const transport = options.transport ?? defaultTransport();

  function open<E extends object>(endpoint: Endpoint<E>, request: object, own: RequestOptions = {}): Observable<E> {
    return new Observable<E>((subscriber) => {
      const { signal } = own;
      if (signal && !follow(signal, subscriber)) return;
      // Read before anything can be asynchronous: a retrying operator has its key ready only now.
      const attempt = currentAttempt();
      const stream = openStream(subscriber, {
        endpoint,
        request,
        transport,
        timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts, ...own.timeouts },
        maxEventBytes,
        scheduler,
        onResponse: own.onResponse?.bind(own),
        onToken: attempt && (() => attempt.markToken()),
      });
      const refuse = (name: string) => (cause: unknown) => {
        stream.refuse(`\`${name}\` failed, so nothing was sent`, cause);
      };
      obtain(options.apiKey, subscriber, refuse('apiKey'), (key) => {
        obtain(options.headers, subscriber, refuse('headers'), (shared) => {
          const headers = headersOf(key, options.auth, shared, own.headers);
          const header = attempt?.header ?? idempotencyHeader;
          if (header !== false)
            headers[header.toLowerCase()] ??= own.idempotencyKey ?? attempt?.idempotencyKey ?? mintKey();
          const bad = badHeader(headers);
          const body = bad === undefined ? serialize(endpoint, request, options.includeUsage) : undefined;
          if (bad !== undefined) stream.refuse(`The header \`${bad}\` holds what no header may, so nothing was sent`);
          else if (body === undefined)
            stream.refuse('The request is not JSON (a cycle, or a BigInt?), so nothing was sent');
          else stream.send({ method: 'POST', url: urlFor(endpoint), headers, body });
        });
      });
    });
  }

  return {
    chatCompletions: (request, own) => open(chatEndpoint, request, own),
    responses: (request, own) => open(responsesEndpoint, request, own),
    messages: (request, own) => open(messagesEndpoint, request, own),
    images: (request, own) => open(imagesEndpoint, request, own),
  };
}

/** Ends the subscription when the signal is aborted; false if it already was. No listener outlives the subscription. */
function follow(signal: AbortSignal, subscriber: Subscriber<never> | Subscriber<object>): boolean {
  const abort = (): void => {
    subscriber.error(signal.reason);
  };
  if (signal.aborted) {
    abort();
    return false;
  }
  signal.addEventListener('abort', abort);
  subscriber.add(() => {
    signal.removeEventListener('abort', abort);
  });
  return true;
}

type Source<T> = T | (() => ObservableInput<T> | T) | undefined;

/** Hands over a value that is there, or that a function gives now or later. */
function obtain<T extends string | object, R>(
  source: Source<T>,
  subscriber: Subscriber<R>,
  refuse: (cause: unknown) => void,
  use: (value: T | undefined) => void,
): void {
  let value: ObservableInput<T> | T | undefined;
  try {
    value = typeof source === 'function' ? source() : source;
  } catch (error) {
    refuse(error);
    return;
  }
  if (!isInput(value)) {
    use(value);
    return;
  }
  let given = false;
  subscribeTo<T, R>(from(value).pipe(take(1)), subscriber, {
    next(first) {
      given = true;
      use(first);
    },
    error: refuse,
    complete() {
      if (!given) refuse(new Error('It gave no value'));
    },
  });
}

function isInput<T>(value: ObservableInput<T> | T | undefined): value is ObservableInput<T> {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'subscribe' in value ||
    'then' in value ||
    Symbol.iterator in value ||
    Symbol.asyncIterator in value ||
    'getReader' in value
  );
}

function headersOf(
  key: string | undefined,
  auth: LlmClientOptions['auth'] = 'bearer',
  ...own: (HeaderValues | undefined)[]
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'text/event-stream' };
  if (key !== undefined) {
    if (auth === 'bearer') headers['authorization'] = `Bearer ${key}`;
    else headers[auth] = key;
  }
  if (auth === 'x-api-key') headers['anthropic-version'] = '2023-06-01';
  for (const values of own) {
    for (const [name, value] of Object.entries(values ?? {}))
      if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** The name of a header that would not reach the gateway as it stands, or would bring another one along. */
function badHeader(headers: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name)) return 'with a name that is not a token';
    // eslint-disable-next-line no-control-regex -- these are what headers may hold
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return name;
  }
  return undefined;
}

function serialize<E extends object>(endpoint: Endpoint<E>, request: object, includeUsage = true): string | undefined {
  const body: Record<string, unknown> = { ...request, stream: true };
  if (includeUsage && endpoint.name === 'chatCompletions') {
    body['stream_options'] = { include_usage: true, ...fields(body['stream_options']) };
  }
  try {
    return JSON.stringify(body);
  } catch {
    return undefined;
  }
}

/** Checks the base once, where a mistake is easy to see. */
function urls(
  baseUrl: string | URL,
  paths: LlmClientOptions['paths'] = {},
): (endpoint: { name: EndpointName; path: string }) => string {
  const [whole = ''] = String(baseUrl).trim().split('#', 1);
  const [base = '', query] = whole.split('?', 2);
  const scheme = /^([a-z][\w+.-]*):/i.exec(base)?.[1]?.toLowerCase();
  if (base === '')
    throw new TypeError('`baseUrl` is empty. Give the address of the gateway, such as "https://gateway.example/v1"');
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw new TypeError(`\`baseUrl\` has the scheme "${scheme}:". Did you mean "http://${base}"?`);
  }
  if (scheme !== undefined) {
    if (!URL.canParse(base)) throw new TypeError('`baseUrl` is not a URL');
    const { username, password } = new URL(base);
    if (username || password) throw new TypeError('`baseUrl` holds credentials. Give them as `apiKey` or `headers`');
  }
  const root = trimEnd(base);
  return ({ name, path }) => {
    const [own = '', ownQuery] = (paths[name] ?? path).split('?', 2);
    const queries = [query, ownQuery].filter(Boolean).join('&');
    return `${root}${own.startsWith('/') ? '' : '/'}${own}${queries === '' ? '' : `?${queries}`}`;
  };
}

function trimEnd(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}
