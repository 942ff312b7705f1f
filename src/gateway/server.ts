import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { prepare } from './answers.js';
import { hash, random } from './content/random.js';
import { deliverStream, deliverWhole, problemOf } from './deliver.js';
import { refuse, type Exchange } from './exchange.js';
import { parseFault, toFault, type Fault, type FaultLike } from './faults.js';
import { allowBrowsers, dialectAsked, keyOf, parseBody, preflight, readBody, sendJson, unescaped } from './http.js';
import { strikeInstead } from './instead.js';
import { maskHeaders, type JournalEntry } from './journal.js';
import { string } from './json.js';
import { ConversationMemory, PromptCache } from './memory.js';
import { costOf, modelList, modelNames, modelObject } from './models.js';
import type { Gateway, GatewayOptions } from './options.js';
import { checkPace, parsePace, type Pace } from './pace.js';
import { RequestProblem, type GatewayEndpoint, type Rendering } from './protocol.js';

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

const HOUSE = new Set(['/', '/v1', '/journal', '/v1/models']);
const KEEP_ALIVE_MS = 15_000;
const JOURNAL_LIMIT = 10_000;
const ATTEMPTS_LIMIT = 10_000;
const MAX_BODY_BYTES = 32 * 1024 * 1024;

class GatewayServer implements Gateway {
  readonly journal: JournalEntry[] = [];
  readonly #server: Server;
  readonly #seed: string;
  readonly #script: (Fault | null)[];
  readonly #fault: Fault | undefined;
  readonly #memory = new ConversationMemory();
  readonly #cache = new PromptCache();
  readonly #attempts = new Map<string, number>();
  readonly #running = new Set<JournalEntry>();
  #whenIdle: (() => void)[] = [];
  #requests = 0;
  #closing: Promise<void> | undefined;

  constructor(private readonly options: GatewayOptions) {
    this.#seed = String(options.seed ?? 'rx-llm');
    this.#script = (options.script ?? []).map((entry) => (entry === null ? null : toFault(entry)));
    this.#fault = options.fault === undefined ? undefined : toFault(options.fault);
    if (options.pace) checkPace(options.pace);
    if (options.dialect !== undefined && options.dialect !== 'a' && options.dialect !== 'b') {
      throw new TypeError(`dialect must be 'a' or 'b', not '${String(options.dialect)}'`);
    }
    this.#server = createServer((request, response) => void this.#handle(request, response));
    this.#server.requestTimeout = 0; // a slow upload is the client's affair
    this.#server.keepAliveTimeout = 30_000;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.options.port ?? 0, this.#host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  get #host(): string {
    return this.options.host ?? '127.0.0.1';
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  get url(): string {
    const host = this.#host === '0.0.0.0' || this.#host === '::' ? '127.0.0.1' : this.#host;
    return `http://${host.includes(':') ? `[${host}]` : host}:${this.port}/v1`;
  }

  script(...faults: readonly (FaultLike | null)[]): void {
    this.#script.push(...faults.map((fault) => (fault === null ? null : toFault(fault))));
  }

  idle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#server.close(() => void this.idle().then(resolve));
      this.#server.closeAllConnections();
    });
    return this.#closing;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    allowBrowsers(request, response);
    if (request.method === 'OPTIONS') return preflight(request, response);
    const exchange = this.#open(request, response);
    const { entry } = exchange;
    try {
      await this.#answer(exchange);
    } catch (error) {
      if (response.headersSent || request.socket.destroyed) entry.outcome = 'hung-up';
      else if (error instanceof RequestProblem) refuse(exchange, error.problem);
      else refuse(exchange, { status: 500, message: 'The gateway failed to answer', code: 'internal_error' });
    } finally {
      this.#end(exchange);
    }
  }

  #open(request: IncomingMessage, response: ServerResponse): Exchange {
    // Not `URL`: it throws at some paths that a client can send.
    const [pathname = '/'] = (request.url ?? '/').split('?', 1);
    const number = ++this.#requests;
    const asked = dialectAsked(request);
    const key = request.headers['idempotency-key'];
    let end = pathname.length;
    while (end > 1 && pathname[end - 1] === '/') end--;
    const path = pathname.slice(0, end);
    const entry: JournalEntry = {
      number,
      requestId: `req_${random(`${this.#seed}/request/${number}`).id(20)}`,
      at: Date.now(),
      method: request.method ?? 'GET',
      path,
      dialect: asked === 'a' || asked === 'b' ? asked : (this.options.dialect ?? 'a'),
      endpoint: Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined,
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
    if (this.journal.length > (this.options.journalLimit ?? JOURNAL_LIMIT)) this.journal.shift();
    this.#running.add(entry);
    response.setHeader('x-request-id', entry.requestId);
    if (entry.endpoint === 'messages') response.setHeader('request-id', entry.requestId);
    response.on('error', () => undefined); // a reset shows as a hang-up
    response.once('close', () => {
      if (entry.outcome === 'open' && !response.writableFinished && !this.#closing) {
        entry.hungUpMs = Date.now() - entry.at;
      }
    });
    return { request, response, entry };
  }

  #end({ request, response, entry }: Exchange): void {
    if (this.#closing && entry.outcome === 'hung-up') entry.outcome = 'closed';
    entry.endedMs = Date.now() - entry.at;
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
    const { path, endpoint } = entry;
    if (endpoint === undefined) return this.#house(exchange);
    if (entry.method !== 'POST') {
      response.setHeader('allow', 'POST, OPTIONS');
      throw new RequestProblem({
        status: 405,
        message: `${path} takes POST, not ${entry.method}`,
        code: 'method_not_allowed',
      });
    }
    this.#admit(request);
    const asked = dialectAsked(request);
    if (asked !== '' && asked !== entry.dialect) {
      const message = `x-gateway-dialect must be a or b, not '${asked.slice(0, 20)}'`;
      throw new RequestProblem({ status: 400, message, code: 'invalid_value', param: 'x-gateway-dialect' });
    }
    const bytes = await readBody(request, this.options.maxBodyBytes ?? MAX_BODY_BYTES);
    const body = await parseBody(request, bytes);
    entry.body = body;
    entry.attempt = this.#attempt(entry.idempotencyKey ?? `${path} ${hash(bytes.toString('latin1'))} ${bytes.length}`);
    const fault = this.#faultOf(request, entry.attempt);
    const pace = this.#paceOf(request);
    entry.fault = fault;
    const { rendering, stream } = prepare(endpoint, body, entry, fault, {
      seed: this.#seed,
      models: this.options.models,
      memory: this.#memory,
      cache: this.#cache,
    });
    entry.streamed = stream;
    entry.tokensPlanned = rendering.plannedTokens;

    if (fault && (await strikeInstead(exchange, fault, rendering))) return bill(entry, rendering);
    if (!stream && (fault?.kind === 'error' || fault?.kind === 'failed')) return refuse(exchange, problemOf(fault));
    entry.status = 200;
    if (entry.dialect === 'a' && endpoint !== 'messages') {
      response.setHeader('x-generation-id', `gen-${entry.requestId.slice(4)}`);
    }
    const keepAliveMs = this.options.keepAliveMs ?? KEEP_ALIVE_MS;
    const settle = () => bill(entry, rendering);
    const delivery = {
      response,
      entry,
      rendering,
      fault,
      pace,
      keepAliveMs,
      seed: `${this.#seed}/${entry.number}`,
      settle,
    };
    entry.outcome = await (stream ? deliverStream(delivery) : deliverWhole(delivery));
    settle();
  }

  #admit(request: IncomingMessage): void {
    const key = keyOf(request);
    const refused = (message: string, code: string) => new RequestProblem({ status: 401, message, code });
    if (key === '') {
      throw refused('No API key was given: send it as a bearer token or in x-api-key', 'missing_api_key');
    }
    if (this.options.apiKeys && !this.options.apiKeys.includes(key)) {
      throw refused('The API key is not valid', 'invalid_api_key');
    }
  }

  #attempt(key: string): number {
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.delete(key); // to the end of the map: the oldest are forgotten first
    this.#attempts.set(key, attempt);
    if (this.#attempts.size > ATTEMPTS_LIMIT) {
      for (const oldest of this.#attempts.keys()) {
        this.#attempts.delete(oldest);
        break;
      }
    }
    return attempt;
  }

  #faultOf(request: IncomingMessage, attempt: number): Fault | undefined {
    const header = string(request.headers['x-gateway-fault']).trim();
    let fault: Fault | null | undefined;
    if (header === '') fault = this.#script.length > 0 ? this.#script.shift() : this.#fault;
    else if (header !== 'none') fault = readHeader('x-gateway-fault', () => parseFault(header));
    if (!fault || (fault.times !== undefined && attempt > fault.times)) return undefined;
    return fault;
  }

  #paceOf(request: IncomingMessage): Pace {
    const header = string(request.headers['x-gateway-pace']);
    const pace = this.options.pace ?? {};
    return header === '' ? pace : { ...pace, ...readHeader('x-gateway-pace', () => parsePace(header)) };
  }

  /** Everything but the four endpoints. */
  #house({ request, response, entry }: Exchange): void {
    const { path, dialect } = entry;
    const { models } = this.options;
    if (!HOUSE.has(path) && !path.startsWith('/v1/models/')) {
      const message = `There is nothing at ${path.slice(0, 100)}`;
      throw new RequestProblem({ status: 404, message, code: 'not_found' });
    }
    if (entry.method !== 'GET' && entry.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD, OPTIONS');
      const message = `${path} takes GET, not ${entry.method}`;
      throw new RequestProblem({ status: 405, message, code: 'method_not_allowed' });
    }
    const anthropic = request.headers['anthropic-version'] !== undefined;
    const show = (value: unknown) => {
      entry.status = 200;
      entry.outcome = 'completed';
      sendJson(response, 200, value);
    };
    if (path === '/' || path === '/v1') {
      const endpoints = Object.keys(ROUTES);
      return show({ gateway: 'rx-llm', dialect, endpoints, models: '/v1/models', journal: '/journal' });
    }
    this.#admit(request);
    if (path === '/journal') return show({ data: this.journal });
    if (path === '/v1/models') return show(modelList(dialect, models, anthropic));
    const id = unescaped(path.slice('/v1/models/'.length));
    if (!modelNames(dialect, models).includes(id)) {
      const message = `The model '${id.slice(0, 100)}' does not exist`;
      throw new RequestProblem({ status: 404, message, code: 'model_not_found', param: 'model' });
    }
    show(modelObject(id, dialect, anthropic));
  }
}

/** What was delivered is paid for; an answer that broke off before its first token is free. */
function bill(entry: JournalEntry, { inputTokens, cachedTokens }: Rendering): void {
  const outputTokens = entry.tokensDelivered;
  if (entry.outcome === 'refused' || (outputTokens === 0 && entry.outcome !== 'completed')) return;
  entry.billed = { inputTokens, outputTokens, costUsd: costOf(inputTokens, cachedTokens, outputTokens) };
}

function readHeader<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'not understood';
    throw new RequestProblem({ status: 400, message: `${name}: ${reason}`, code: 'invalid_value', param: name });
  }
}
