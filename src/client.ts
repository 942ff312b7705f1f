import {
  catchError,
  defer,
  first,
  noop,
  Observable,
  of,
  zip,
  type ObservableInput,
  type SchedulerLike,
  type Subscriber,
} from 'rxjs';
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
import { MAX_EVENT_BYTES } from './sse/frame-reader.js';
import { Stream, type ResponseHead } from './stream.js';
import { mergeTimeouts, type StreamTimeouts } from './timeouts.js';
import type { Transport } from './transport/transport.js';

/** Headers by name, in any case. Those that are `undefined` are not sent. */
export type HeaderValues = Readonly<Record<string, string | undefined>>;

/** Where requests go, with what credentials, and what holds for all of them. */
export interface LlmClientOptions {
  /** Where the gateway is, up to its version: `'https://gateway.example/v1'`. In browsers it may be relative. */
  readonly baseUrl: string | URL;
  /** Paths that differ from the default: `{ images: '/images/generations' }`. */
  readonly paths?: Partial<Record<EndpointName, string>> | undefined;
  /** A key, or where to get one: asked at each subscription, and so again on each retry. */
  readonly apiKey?: string | (() => ObservableInput<string> | string) | undefined;
  /** Where the key goes. Default: `'bearer'`. `'x-api-key'` also sends `anthropic-version`, unless it is given. */
  readonly auth?: 'bearer' | 'x-api-key' | 'api-key' | undefined;
  /** More headers, or where to get them, asked as `apiKey` is. They win over the library's own. */
  readonly headers?: HeaderValues | (() => ObservableInput<HeaderValues> | HeaderValues) | undefined;
  /** How requests travel. Default: undici on Node, `fetch` elsewhere. */
  readonly transport?: Transport | undefined;
  /** Clocks for every request; a request's own win, one by one. What is no length of time is a `RangeError` at once. */
  readonly timeouts?: StreamTimeouts | undefined;
  /** The most bytes that one event may have; more is an `EventTooLargeError`. Default: 64 MiB, since an image is one event. */
  readonly maxEventBytes?: number | undefined;
  /** Chat: ask for usage, unless the request says otherwise. Default: `true`. */
  readonly includeUsage?: boolean | undefined;
  /** The header that names all tries of one subscription; `false` sends none. Default: `'idempotency-key'`. */
  readonly idempotencyHeader?: string | false | undefined;
  /** The client's clocks. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

/** What holds for one request alone: for each subscription to its Observable. */
export interface RequestOptions {
  /** Aborting it ends the stream with an error: the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** They win over the client's, one by one; `undefined` leaves the client's as it is. */
  readonly headers?: HeaderValues | undefined;
  /** They win over the client's, one by one. What is no length of time is a `RangeError` when the method is called. */
  readonly timeouts?: StreamTimeouts | undefined;
  /** A key of your own, sent with every subscription of this Observable. Default: a new one for each, shared by its retries. */
  readonly idempotencyKey?: string | undefined;
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
  /** The chunks of a chat completion. It is complete at `[DONE]`, or once every choice has finished and the stream ends. */
  abstract chatCompletions(request: ChatCompletionRequest, options?: RequestOptions): Observable<ChatCompletionChunk>;
  /** The events of a response. It is complete at `response.completed` or `response.incomplete`. */
  abstract responses(request: ResponseRequest, options?: RequestOptions): Observable<ResponseStreamEvent>;
  /** The events of a message. It is complete at `message_stop`, or once there is a stop reason and the stream ends. */
  abstract messages(request: MessageRequest, options?: RequestOptions): Observable<MessageStreamEvent>;
  /** The events of images that are being made. They are complete when as many as were asked for have come. */
  abstract images(request: ImageRequest, options?: RequestOptions): Observable<ImageStreamEvent>;
}

/** `createLlmClient` without a default transport; the entries of the package add theirs. */
export function createClient(
  // Without any the address is what is told to be missing.
  options = {} as LlmClientOptions,
  defaultTransport: () => Transport,
): LlmClient {
  const { maxEventBytes = MAX_EVENT_BYTES, idempotencyHeader = 'idempotency-key', scheduler } = options;
  const urlOf = urls(options);
  const commonTimeouts = mergeTimeouts(options.timeouts);
  const transport = options.transport ?? defaultTransport();

  function opener<E extends object>(endpoint: Endpoint<E>): (request: object, own?: RequestOptions) => Observable<E> {
    const url = urlOf(endpoint);
    return (request, own = {}) => {
      const timeouts = own.timeouts ? mergeTimeouts(commonTimeouts, own.timeouts) : commonTimeouts;
      return new Observable<E>((subscriber) => {
        // Whoever is gone already must cost nothing, not even a clock.
        if (subscriber.closed) return;
        // Read before anything can be asynchronous: a retrying operator has its key ready only now.
        const attempt = currentAttempt();
        if (own.signal) {
          attempt?.follow(own.signal);
          if (!follow(own.signal, subscriber)) return;
        }
        const stream = new Stream(subscriber, {
          endpoint,
          request,
          transport,
          timeouts,
          maxEventBytes,
          scheduler,
          onResponse: own.onResponse?.bind(own),
          onToken: attempt && (() => attempt.markToken()),
        });
        const send = (key: string | undefined, common: HeaderValues | undefined): void =>
          stream.send(() => {
            const headers = headersOf(key, options.auth, common, own.headers);
            const header = attempt?.header ?? idempotencyHeader;
            if (header && !(header.toLowerCase() in headers)) {
              put(headers, header, own.idempotencyKey ?? attempt?.idempotencyKey ?? mintKey());
            }
            return { method: 'POST', url, headers, body: serialize(endpoint, request, options.includeUsage) };
          });
        const { apiKey, headers: common } = options;
        // Most credentials are there, and asking for them costs as much as all else that is done before the request is sent.
        if (typeof apiKey !== 'function' && typeof common !== 'function') send(apiKey, common);
        else {
          const asked = zip(obtain('apiKey', apiKey), obtain('headers', common)).pipe(first(null, undefined));
          subscribeTo(asked, subscriber, {
            next: (given) => {
              if (given) send(...given);
              else stream.refuse(new Error('`apiKey` or `headers` gave no value'));
            },
            error: (error) => stream.refuse(error),
            complete: noop,
          });
        }
      });
    };
  }

  return {
    chatCompletions: opener(chatEndpoint),
    responses: opener(responsesEndpoint),
    messages: opener(messagesEndpoint),
    images: opener(imagesEndpoint),
  };
}

/** Ends the subscription when the signal is aborted; false if it already was. No listener outlives the subscription. */
function follow<T>(signal: AbortSignal, subscriber: Subscriber<T>): boolean {
  const abort = (): void => subscriber.error(signal.reason);
  if (signal.aborted) abort();
  else {
    signal.addEventListener('abort', abort);
    subscriber.add(() => signal.removeEventListener('abort', abort));
  }
  return !signal.aborted;
}

/** A value that is there, or that a function gives now or later. */
function obtain<T extends string | object>(
  name: string,
  source: T | (() => ObservableInput<T> | T) | undefined,
): Observable<T | undefined> {
  return defer(() => {
    const value = typeof source === 'function' ? (source as () => ObservableInput<T> | T)() : source;
    return isInput(value) ? value : of(value);
  }).pipe(
    catchError((cause: unknown) => {
      throw new Error(`\`${name}\` failed`, { cause });
    }),
  );
}

function isInput<T>(value: ObservableInput<T> | T | undefined): value is ObservableInput<T> {
  return (
    typeof value === 'object' &&
    value !== null &&
    ('subscribe' in value || 'then' in value || Symbol.iterator in value || Symbol.asyncIterator in value)
  );
}

function headersOf(
  key: string | undefined,
  auth: LlmClientOptions['auth'] = 'bearer',
  ...own: (HeaderValues | undefined)[]
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'text/event-stream' };
  if (auth === 'x-api-key') headers['anthropic-version'] = '2023-06-01';
  if (key !== undefined && auth === 'bearer') put(headers, 'authorization', `Bearer ${key}`);
  else if (key !== undefined) put(headers, auth, key);
  for (const values of own) {
    for (const [name, value] of Object.entries(values ?? {})) if (value !== undefined) put(headers, name, value);
  }
  return headers;
}

/** Refuses what would not reach the gateway as it stands, or would bring another header along. */
function put(headers: Record<string, string>, name: string, value: unknown): void {
  if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name)) throw new Error('a header has a name that no header may have');
  if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new Error(`the header \`${name}\` holds what no header may`);
  }
  headers[name.toLowerCase()] = value;
}

function serialize<E extends object>(endpoint: Endpoint<E>, request: object, includeUsage = true): string {
  const body: Record<string, unknown> = { ...request, stream: true };
  if (includeUsage && endpoint.name === 'chatCompletions') {
    body['stream_options'] = { include_usage: true, ...fields(body['stream_options']) };
  }
  try {
    return JSON.stringify(body);
  } catch {
    throw new Error('the request is not JSON (a cycle, or a BigInt?)');
  }
}

/** Checks the base once, where a mistake is easy to see. */
function urls({ baseUrl, paths = {} }: LlmClientOptions): (endpoint: { name: EndpointName; path: string }) => string {
  const [base, query] = cutAt('?', cutAt('#', String(baseUrl ?? '').trim())[0]);
  const refuse = (why: string): never => {
    throw new TypeError(`\`baseUrl\` ${why}. Give the address of the gateway, such as "https://gateway.example/v1"`);
  };
  if (base === '') refuse('is empty');
  const absolute = /^[a-z][\w+.-]*:/i.test(base);
  if (absolute || /^[\\/]{2}/.test(base)) {
    const url = absolute ? base : `http:${base}`;
    if (!/^https?:/i.test(url) || !URL.canParse(url)) refuse('is not an http: or https: URL');
    const { username, password } = new URL(url);
    if (username || password) refuse('holds credentials, which go into `apiKey` or `headers`');
  } else if (!/^[./]/.test(base)) refuse('has neither a scheme nor, for a page to resolve it, a leading slash');
  let end = base.length;
  while (base[end - 1] === '/') end--;
  return ({ name, path }) => {
    const [own, ownQuery] = cutAt('?', paths[name] ?? path);
    const queries = [query, ownQuery].filter(Boolean).join('&');
    return `${base.slice(0, end)}${own.startsWith('/') ? '' : '/'}${own}${queries && `?${queries}`}`;
  };
}

/** What stands before the first `mark`, and what after it. */
function cutAt(mark: string, words: string): [before: string, after: string] {
  const [before = '', ...after] = words.split(mark);
  return [before, after.join(mark)];
}
