import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hash, random } from './content/random.js';
import { plan, type Ask, type Changes } from './content/plan.js';
import { deliverStream, deliverWhole, problemOf } from './deliver.js';
import { readChat, renderChat } from './endpoints/chat-completions.js';
import { readImages, renderImages, type ImageAsk } from './endpoints/images.js';
import { readMessages, renderMessage } from './endpoints/messages.js';
import { conversationOf, readResponses, renderResponse } from './endpoints/responses.js';
import { parseFault, toFault, type Fault } from './faults.js';
import { allowBrowsers, keyOf, parseBody, preflight, readBody, sendJson } from './http.js';
import { maskHeaders, type JournalEntry } from './journal.js';
import { list, own, string, type Json } from './json.js';
import { ConversationMemory } from './memory.js';
import { costOf, modelList, modelNames, modelObject, providerOf, resolve } from './models.js';
import type { Gateway, GatewayOptions } from './options.js';
import { checkPace, parsePace, type Pace } from './pace.js';
import { errorBody, sayingOf } from './problems.js';
import {
  RequestProblem,
  type Answer,
  type Dialect,
  type GatewayEndpoint,
  type Problem,
  type Rendering,
} from './protocol.js';

const ROUTES: Readonly<Record<string, GatewayEndpoint>> = {
  '/v1/chat/completions': 'chatCompletions',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
  '/v1/images': 'images',
  '/v1/images/generations': 'images',
  '/v1/images/edits': 'images',
};

/**
 * Starts a gateway on this machine: Chat Completions, Responses, Messages and Images, streamed and not, in the words of gateway A or B.
 *
 * Answers are made from the request and are the same each time; keys are asked for and not checked unless `apiKeys` are given. Rejects when
 * the port is taken or an option makes no sense.
 *
 * @example
 * ```ts
 * import { startGateway } from 'rx-llm/gateway';
 *
 * const gateway = await startGateway({ dialect: 'b', pace: { tokensPerSecond: 40 } });
 * console.log(gateway.url); // http://127.0.0.1:…/v1
 * await gateway.close();
 * ```
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = new GatewayServer(options);
  await gateway.listen();
  return gateway;
}

class GatewayServer implements Gateway {
  readonly journal: JournalEntry[] = [];
  readonly #server: Server;
  readonly #seed: string;
  readonly #script: (Fault | null)[];
  readonly #fault: Fault | undefined;
  readonly #memory = new ConversationMemory();
  readonly #attempts = new Map<string, number>();
  readonly #running = new Set<JournalEntry>();
  #whenIdle: (() => void)[] = [];
  #requests = 0;
  #closing = false;

  constructor(private readonly options: GatewayOptions) {
    this.#seed = String(options.seed ?? 'rx-llm');
    this.#script = (options.script ?? []).map((entry) => (entry === null ? null : toFault(entry)));
    this.#fault = options.fault === undefined ? undefined : toFault(options.fault);
    if (options.pace) checkPace(options.pace);
    this.#server = createServer((request, response) => void this.#handle(request, response));
    // A stalled answer is a fault on purpose; the server must not end it.
    this.#server.requestTimeout = 0;
    this.#server.keepAliveTimeout = 30_000;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.options.port ?? 0, this.options.host ?? '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  get url(): string {
    const host = this.options.host ?? '127.0.0.1';
    return `http://${host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host}:${this.port}/v1`;
  }

  script(...faults: readonly (Fault | string | null)[]): void {
    this.#script.push(...faults.map((fault) => (fault === null ? null : toFault(fault))));
  }

  idle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  close(): Promise<void> {
    this.#closing = true;
    return new Promise((resolve) => {
      this.#server.close(() => void this.idle().then(resolve));
      this.#server.closeAllConnections();
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    allowBrowsers(request, response);
    if (request.method === 'OPTIONS') return preflight(request, response);
    const exchange = this.#open(request, response);
    const { entry } = exchange;
    response.on('error', () => undefined); // a reset shows as a hang-up
    try {
      await this.#answer(exchange);
    } catch (error) {
      if (response.destroyed || response.headersSent) entry.outcome = 'hung-up';
      else {
        const problem =
          error instanceof RequestProblem ? error.problem : { status: 500, message: 'The gateway failed to answer' };
        this.#refuse(exchange, problem);
      }
    } finally {
      this.#end(exchange);
    }
  }

  #open(request: IncomingMessage, response: ServerResponse): Exchange {
    const url = new URL(request.url ?? '/', 'http://gateway');
    const number = ++this.#requests;
    const asked = string(request.headers['x-gateway-dialect'] ?? url.searchParams.get('dialect')).toLowerCase();
    const dialect: Dialect = asked === 'a' || asked === 'b' ? asked : (this.options.dialect ?? 'a');
    const key = request.headers['idempotency-key'];
    const path = url.pathname.length > 1 ? url.pathname.replace(/\/+$/, '') : url.pathname;
    const entry: JournalEntry = {
      number,
      requestId: `req_${random(`${this.#seed}/request/${number}`).id(20)}`,
      at: Date.now(),
      method: request.method ?? 'GET',
      path,
      dialect,
      endpoint: ROUTES[path],
      headers: maskHeaders(request.headers),
      idempotencyKey: typeof key === 'string' ? key : undefined,
      attempt: 1,
      body: undefined,
      streamed: false,
      status: undefined,
      fault: undefined,
      outcome: 'open',
      tokensPlanned: 0,
      tokensDelivered: 0,
      bytesDelivered: 0,
      firstTokenMs: undefined,
      endedMs: undefined,
      hungUpMs: undefined,
      billed: undefined,
    };
    this.journal.push(entry);
    if (this.journal.length > (this.options.journalLimit ?? 10_000)) this.journal.shift();
    this.#running.add(entry);
    response.setHeader('x-request-id', entry.requestId);
    if (entry.endpoint === 'messages') response.setHeader('request-id', entry.requestId);
    const exchange: Exchange = { request, response, entry, settle: undefined };
    response.once('close', () => {
      if (!response.writableFinished && !this.#closing) entry.hungUpMs ??= Date.now() - entry.at;
    });
    return exchange;
  }

  #end({ request, response, entry, settle }: Exchange): void {
    if (this.#closing && entry.outcome === 'hung-up') entry.outcome = 'closed';
    if (entry.outcome === 'hung-up') entry.hungUpMs ??= Date.now() - entry.at;
    else entry.hungUpMs = undefined;
    entry.endedMs = Date.now() - entry.at;
    settle?.();
    // A body that nobody wants must still be read, or the client never gets to the answer.
    if (!request.complete && !request.destroyed) {
      request.resume();
      response.once('finish', () => setTimeout(() => request.destroy(), 1000).unref());
    }
    this.#running.delete(entry);
    this.options.onEnd?.(entry);
    if (this.#running.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, response, entry } = exchange;
    const { path, endpoint, dialect } = entry;
    if (endpoint === undefined) return this.#other(exchange);
    if (entry.method !== 'POST') {
      response.setHeader('allow', 'POST, OPTIONS');
      throw new RequestProblem({
        status: 405,
        message: `${path} takes POST, not ${entry.method}`,
        code: 'method_not_allowed',
      });
    }
    this.#admit(request);
    const bytes = await readBody(request, this.options.maxBodyBytes ?? 32 * 1024 * 1024);
    const body = await parseBody(request, bytes);
    entry.body = body;
    entry.attempt = this.#attempt(entry.idempotencyKey ?? `${path} ${hash(bytes.toString('latin1'))} ${bytes.length}`);
    const fault = this.#faultOf(request, entry.attempt);
    const pace = this.#paceOf(request);
    entry.fault = fault;

    const changes: Changes = {
      ...(fault?.kind === 'incomplete'
        ? { incomplete: { after: fault.after ?? 5, finish: fault.reason ?? 'length' } }
        : {}),
      ...(fault?.kind === 'huge' && endpoint !== 'images'
        ? { huge: { after: fault.after ?? 0, bytes: fault.bytes ?? 1024 * 1024 } }
        : {}),
    };
    const { rendering, stream, cost } = this.#render(exchange, endpoint, dialect, body, fault, changes);
    entry.streamed = stream;
    entry.tokensPlanned = rendering.plannedTokens;
    exchange.settle = () => {
      const output = entry.tokensDelivered;
      if (entry.outcome === 'refused' || (output === 0 && entry.outcome !== 'completed')) return;
      entry.billed = {
        inputTokens: rendering.inputTokens,
        outputTokens: output,
        costUsd: cost(rendering.inputTokens, rendering.cachedTokens, output),
      };
    };

    if (fault && (await this.#instead(exchange, fault, rendering))) return;
    entry.status = 200;
    if (dialect === 'a' && endpoint !== 'messages')
      response.setHeader('x-generation-id', `gen-${entry.requestId.slice(4)}`);
    const delivery = {
      response,
      entry,
      rendering,
      fault,
      pace,
      keepAliveMs: this.options.keepAliveMs ?? 15_000,
      seed: `${this.#seed}/${entry.number}`,
    };
    if (stream) {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      });
      entry.outcome = await deliverStream(delivery);
    } else {
      response.statusCode = 200;
      response.setHeader('content-type', 'application/json');
      if (fault?.kind === 'error' || fault?.kind === 'failed') return this.#refuse(exchange, problemOf(fault));
      entry.outcome = await deliverWhole(delivery);
    }
  }

  /** Faults that come instead of an answer. */
  async #instead(
    { request, response, entry, ...rest }: Exchange,
    fault: Fault,
    rendering: Rendering,
  ): Promise<boolean> {
    if (fault.kind === 'status') {
      if (fault.retryAfter !== undefined) response.setHeader('retry-after', String(fault.retryAfter));
      if (fault.retryAfterDate !== undefined)
        response.setHeader('retry-after', new Date(Date.now() + fault.retryAfterDate * 1000).toUTCString());
      if (fault.retryAfterMs !== undefined) response.setHeader('retry-after-ms', String(fault.retryAfterMs));
      if (fault.shouldRetry !== undefined) response.setHeader('x-should-retry', String(fault.shouldRetry));
      const { status, code, type, message = sayingOf(status) } = fault;
      this.#refuse({ request, response, entry, ...rest }, { status, code, type, message });
      return true;
    }
    if (fault.kind === 'html') {
      entry.status = 200;
      entry.outcome = 'broken';
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end(
        '<!doctype html>\n<html><head><title>Sign in</title></head><body>Please sign in to use this network.</body></html>\n',
      );
      return true;
    }
    if (fault.kind === 'json') {
      entry.status = 200;
      entry.outcome = 'broken';
      const problem = { status: 503, message: sayingOf(503) };
      const value = fault.answer
        ? await rendering.whole()
        : errorBody(problem, entry.endpoint, entry.dialect, entry.requestId);
      if (fault.answer) {
        entry.outcome = 'completed';
        entry.tokensDelivered = rendering.plannedTokens;
      }
      response.writeHead(200, { 'content-type': fault.contentType ?? 'application/json' }).end(JSON.stringify(value));
      return true;
    }
    if (fault.kind === 'reset' && fault.after === 'headers') {
      entry.outcome = 'broken';
      request.socket.resetAndDestroy();
      return true;
    }
    if (fault.kind === 'stall' && fault.after === 'headers') {
      if (!response.destroyed) await new Promise((resolve) => response.once('close', resolve));
      entry.outcome = 'hung-up';
      return true;
    }
    return false;
  }

  #render(
    exchange: Exchange,
    endpoint: GatewayEndpoint,
    dialect: Dialect,
    body: Json,
    fault: Fault | undefined,
    changes: Changes,
  ) {
    const { request, entry } = exchange;
    const ask: Ask | ImageAsk =
      endpoint === 'chatCompletions'
        ? readChat(body, this.#seed)
        : endpoint === 'responses'
          ? readResponses(body, this.#seed, this.#memory)
          : endpoint === 'messages'
            ? readMessages(body, this.#seed)
            : readImages(body, this.#seed, entry.path.endsWith('/edits'));
    if (this.options.models && !this.options.models.includes(ask.model)) {
      throw new RequestProblem({
        status: 404,
        message: `The model '${ask.model}' does not exist`,
        code: 'model_not_found',
        param: 'model',
      });
    }
    const answer: Answer = {
      dialect,
      requestId: entry.requestId,
      created: Math.floor(entry.at / 1000),
      model: ask.model,
      resolvedModel: resolve(ask.model),
      requestedModels: [
        ask.model,
        ...list(own(body, 'models')).filter((m): m is string => typeof m === 'string' && m !== ask.model),
      ],
      provider: providerOf(resolve(ask.model)),
      body,
      userAgent: request.headers['user-agent'] ?? '',
      cost: costOf,
      toolIndexes: fault?.kind === 'tool-indexes' ? (fault.as ?? 'zero') : 'right',
      hugeBytes: fault?.kind === 'huge' ? (fault.bytes ?? 1024 * 1024) : 0,
    };
    const rendering =
      'width' in ask
        ? renderImages(ask, answer, fault?.kind === 'incomplete')
        : RENDER[endpoint === 'images' ? 'messages' : endpoint](ask, plan(ask, changes), answer);
    if (endpoint === 'responses' && own(body, 'store') !== false) {
      const id = dialect === 'a' ? `gen-${answer.created}-${entry.requestId.slice(4)}` : `resp_${entry.requestId}`;
      this.#memory.keep(id, conversationOf(body, this.#memory), rendering.items?.() ?? []);
    }
    return { rendering, stream: ask.stream, cost: answer.cost };
  }

  #admit(request: IncomingMessage): void {
    const key = keyOf(request);
    if (key === '')
      throw new RequestProblem({
        status: 401,
        message: 'No API key was given: send it as a bearer token or in x-api-key',
        code: 'missing_api_key',
      });
    if (this.options.apiKeys && !this.options.apiKeys.includes(key)) {
      throw new RequestProblem({ status: 401, message: 'The API key is not valid', code: 'invalid_api_key' });
    }
  }

  #attempt(key: string): number {
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.delete(key);
    this.#attempts.set(key, attempt);
    for (const oldest of this.#attempts.keys()) {
      if (this.#attempts.size <= 10_000) break;
      this.#attempts.delete(oldest);
    }
    return attempt;
  }

  #faultOf(request: IncomingMessage, attempt: number): Fault | undefined {
    const header = request.headers['x-gateway-fault'];
    let fault: Fault | null | undefined;
    if (typeof header === 'string' && header.trim() !== '')
      fault = header.trim() === 'none' ? null : readHeader('x-gateway-fault', () => parseFault(header));
    else fault = this.#script.length > 0 ? this.#script.shift() : this.#fault;
    if (!fault || (fault.times !== undefined && attempt > fault.times)) return undefined;
    return fault;
  }

  #paceOf(request: IncomingMessage): Pace {
    const header = request.headers['x-gateway-pace'];
    const pace = this.options.pace ?? {};
    return typeof header === 'string' ? { ...pace, ...readHeader('x-gateway-pace', () => parsePace(header)) } : pace;
  }

  #refuse({ response, entry }: Exchange, problem: Problem): void {
    entry.status = problem.status;
    entry.outcome = 'refused';
    if (problem.status === 413) response.setHeader('connection', 'close');
    sendJson(response, problem.status, errorBody(problem, entry.endpoint, entry.dialect, entry.requestId));
  }

  /** Everything but the four endpoints. */
  #other({ request, response, entry }: Exchange): void {
    const { path, dialect } = entry;
    const known =
      path === '/' || path === '/v1' || path === '/journal' || path === '/v1/models' || path.startsWith('/v1/models/');
    if (!known)
      throw new RequestProblem({
        status: 404,
        message: `There is nothing at ${entry.method} ${path.slice(0, 100)}`,
        code: 'not_found',
      });
    if (entry.method !== 'GET' && entry.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD, OPTIONS');
      throw new RequestProblem({
        status: 405,
        message: `${path} takes GET, not ${entry.method}`,
        code: 'method_not_allowed',
      });
    }
    entry.outcome = 'completed';
    entry.status = 200;
    if (path === '/' || path === '/v1')
      return sendJson(response, 200, {
        gateway: 'rx-llm',
        dialect,
        endpoints: Object.keys(ROUTES),
        models: '/v1/models',
        journal: '/journal',
      });
    this.#admit(request);
    if (path === '/journal') return sendJson(response, 200, { data: this.journal });
    const anthropic = request.headers['anthropic-version'] !== undefined;
    if (path === '/v1/models') return sendJson(response, 200, modelList(dialect, this.options.models, anthropic));
    const id = decodeURIComponent(path.slice('/v1/models/'.length));
    if (!modelNames(dialect, this.options.models).includes(id)) {
      throw new RequestProblem({
        status: 404,
        message: `The model '${id.slice(0, 100)}' does not exist`,
        code: 'model_not_found',
      });
    }
    sendJson(response, 200, modelObject(id, dialect, anthropic));
  }
}

const RENDER = { chatCompletions: renderChat, responses: renderResponse, messages: renderMessage } as const;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly entry: JournalEntry;
  /** Writes the bill, once it is known how much was delivered. */
  settle: (() => void) | undefined;
}

function readHeader<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new RequestProblem({
      status: 400,
      message: `${name}: ${error instanceof Error ? error.message : 'not understood'}`,
      param: name,
    });
  }
}
