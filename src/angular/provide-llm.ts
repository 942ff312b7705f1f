import { isPlatformServer } from '@angular/common';
import {
  type EnvironmentProviders,
  inject,
  type InjectionToken,
  isDevMode,
  makeEnvironmentProviders,
  PLATFORM_ID,
} from '@angular/core';
import { Observable } from 'rxjs';
import { LlmClient, type LlmClientOptions, type RequestOptions } from '../client.js';
import { createLlmClient } from '../create-llm-client.js';
import type { ChatCompletionRequest } from '../endpoints/chat-completions/wire.js';
import type { ImageRequest } from '../endpoints/images/wire.js';
import type { MessageRequest } from '../endpoints/messages/wire.js';
import type { ResponseRequest } from '../endpoints/responses/wire.js';
import type { Transport } from '../transport/transport.js';
import { httpClientTransport, type HttpClientTransportOptions } from './http-client-transport.js';

/** What a gateway's client is made from: see `createLlmClient()`. */
export type LlmConfig = LlmClientOptions;

/** What each request of a client starts from; what a request says itself wins, field by field. */
export interface LlmDefaults {
  readonly chatCompletions?: Partial<ChatCompletionRequest>;
  readonly responses?: Partial<ResponseRequest>;
  readonly messages?: Partial<MessageRequest>;
  readonly images?: Partial<ImageRequest>;
  /** Options of every request. Headers and timeouts are merged one by one. */
  readonly options?: RequestOptions;
}

/** A choice for `provideLlm()`, made by one of the `with…()` functions. */
export type LlmFeature =
  | { readonly kind: 'transport'; readonly create: () => Transport }
  | { readonly kind: 'defaults'; readonly defaults: LlmDefaults }
  | { readonly kind: 'token'; readonly token: LlmToken }
  | { readonly kind: 'server' };

/** What a gateway's client is injected by. */
export type LlmToken = InjectionToken<LlmClient> | (abstract new (...args: never[]) => LlmClient);

/**
 * Provides the client of a gateway, for `inject(LlmClient)`.
 *
 * The client is made when it is first injected, and sends nothing before one of its Observables is subscribed to. On a
 * server that renders pages it sends nothing at all unless `withServerStreams()` asks for it.
 *
 * @param config - as for `createLlmClient()`, or a function that gives it, called in an injection context
 * @param features - `withHttpClient()`, `withTransport()`, `withDefaults()`, `withToken()`, `withServerStreams()`
 * @throws TypeError if two features of one kind are given, or, when the client is injected, if `baseUrl` cannot be one
 *
 * @example
 * ```ts
 * import { provideHttpClient, withFetch, withInterceptors, type HttpInterceptorFn } from '@angular/common/http';
 * import type { ApplicationConfig } from '@angular/core';
 * import { provideLlm, withHttpClient } from 'rx-llm/angular';
 *
 * const auth: HttpInterceptorFn = (request, next) =>
 *   next(request.clone({ setHeaders: { authorization: `Bearer ${localStorage.getItem('session')}` } }));
 *
 * export const appConfig: ApplicationConfig = {
 *   providers: [
 *     provideHttpClient(withFetch(), withInterceptors([auth])),
 *     provideLlm({ baseUrl: '/llm/v1' }, withHttpClient()),
 *   ],
 * };
 * ```
 */
export function provideLlm(config: LlmConfig | (() => LlmConfig), ...features: LlmFeature[]): EnvironmentProviders {
  const kinds = features.map(({ kind }) => kind);
  const twice = kinds.find((kind, i) => kinds.indexOf(kind) < i);
  if (twice) throw new TypeError(`provideLlm() takes one feature of the kind "${twice}", and was given more`);
  const token = find(features, 'token')?.token ?? LlmClient;
  return makeEnvironmentProviders([{ provide: token, useFactory: () => createClient(config, features) }]);
}

/**
 * Requests travel through Angular's `HttpClient`, and so through the application's interceptors: for credentials, tracing
 * and the like. Tests may answer them by `HttpTestingController`.
 *
 * Needs `provideHttpClient()`; `withFetch()` there delivers text as it comes, while XMLHttpRequest, the default up to
 * Angular 21, reports it about every 50 ms and loses what had not been reported when a connection breaks. Angular keeps
 * the whole body in memory until the end; without this feature nothing is kept.
 */
export function withHttpClient(options: HttpClientTransportOptions = {}): LlmFeature {
  return { kind: 'transport', create: () => httpClientTransport(options) };
}

/**
 * Requests travel by a transport of your own.
 *
 * @param transport - the transport, or `{ useFactory }` to make it in an injection context
 *
 * @example
 * ```ts
 * import { fetchTransport } from 'rx-llm';
 * import { provideLlm, withTransport } from 'rx-llm/angular';
 *
 * export const providers = [
 *   provideLlm({ baseUrl: '/llm/v1' }, withTransport(fetchTransport({ init: { credentials: 'include' } }))),
 * ];
 * ```
 */
export function withTransport(transport: Transport | { readonly useFactory: () => Transport }): LlmFeature {
  return { kind: 'transport', create: 'useFactory' in transport ? transport.useFactory : () => transport };
}

/**
 * What requests start from: a temperature for every chat, a timeout for everything.
 *
 * @example
 * ```ts
 * import { provideLlm, withDefaults } from 'rx-llm/angular';
 *
 * export const providers = [
 *   provideLlm(
 *     { baseUrl: '/llm/v1' },
 *     withDefaults({ chatCompletions: { temperature: 0.2 }, options: { timeouts: { firstTokenMs: 20_000 } } }),
 *   ),
 * ];
 * ```
 */
export function withDefaults(defaults: LlmDefaults): LlmFeature {
  return { kind: 'defaults', defaults };
}

/**
 * Provides the client under a token of its own instead of `LlmClient`, so that several gateways stand side by side.
 *
 * @example
 * ```ts
 * import { inject, InjectionToken } from '@angular/core';
 * import type { LlmClient } from 'rx-llm';
 * import { provideLlm, withToken } from 'rx-llm/angular';
 *
 * export const IMAGE_GATEWAY = new InjectionToken<LlmClient>('IMAGE_GATEWAY');
 *
 * export const providers = [
 *   provideLlm({ baseUrl: '/llm/v1' }),
 *   provideLlm({ baseUrl: '/images/v1' }, withToken(IMAGE_GATEWAY)),
 * ];
 *
 * export const painter = () => inject(IMAGE_GATEWAY);
 * ```
 */
export function withToken(token: LlmToken): LlmFeature {
  return { kind: 'token', token };
}

/**
 * Lets the client send requests while a page is rendered on a server. Without it Observables of the client neither send
 * nor emit anything there: what a page asks for as it is made would be asked for twice, on the server and again in the
 * browser, and rendering would wait for whole answers, or cut them off and pay for them.
 */
export function withServerStreams(): LlmFeature {
  return { kind: 'server' };
}

function find<K extends LlmFeature['kind']>(
  features: readonly LlmFeature[],
  kind: K,
): Extract<LlmFeature, { kind: K }> | undefined {
  return features.find((feature): feature is Extract<LlmFeature, { kind: K }> => feature.kind === kind);
}

function createClient(config: LlmConfig | (() => LlmConfig), features: readonly LlmFeature[]): LlmClient {
  const server = find(features, 'server');
  if (!server && isPlatformServer(inject(PLATFORM_ID))) return dormant();
  const options = typeof config === 'function' ? config() : config;
  const transport = find(features, 'transport')?.create();
  const client = createLlmClient(transport ? { ...options, transport } : options);
  const defaults = find(features, 'defaults')?.defaults;
  return defaults ? withDefaultsOf(client, defaults) : client;
}

function withDefaultsOf(client: LlmClient, defaults: LlmDefaults): LlmClient {
  const merge = (own: RequestOptions = {}): RequestOptions => {
    const { headers, timeouts, ...rest } = defaults.options ?? {};
    return {
      ...rest,
      ...own,
      headers: { ...headers, ...own.headers },
      timeouts: { ...timeouts, ...own.timeouts },
      onResponse: (head) => {
        (own.onResponse ? own : defaults.options)?.onResponse?.(head);
      },
    };
  };
  return {
    chatCompletions: (request, own) => client.chatCompletions({ ...defaults.chatCompletions, ...request }, merge(own)),
    responses: (request, own) => client.responses({ ...defaults.responses, ...request }, merge(own)),
    messages: (request, own) => client.messages({ ...defaults.messages, ...request }, merge(own)),
    images: (request, own) => client.images({ ...defaults.images, ...request }, merge(own)),
  };
}

/** A client that waits for the browser. */
function dormant(): LlmClient {
  let told = false;
  const idle = (): Observable<never> =>
    new Observable(() => {
      if (told || !isDevMode()) return;
      told = true;
      console.warn(
        'rx-llm: a stream was subscribed to while rendering on the server. It sends and emits nothing there; ' +
          'withServerStreams() allows it.',
      );
    });
  return { chatCompletions: idle, responses: idle, messages: idle, images: idle };
}
