import { fields, text, type Fields } from './endpoints/fields.js';
import type { FinishReason } from './finish-reason.js';
import { number, UsageTally } from './usage.js';

/** Who answered a request and what it cost, as far as the body of the answer says so. */
export interface Receipt {
  /** The service's name for the answer. */
  readonly id?: string;
  /** The gateway's name for the request: what its support asks for. */
  readonly requestId?: string;
  /** The model, as the service names it. */
  readonly model?: string;
  /** The model that answered, where a gateway chose it. */
  readonly resolvedModel?: string;
  /** Whose service the gateway took the answer from. */
  readonly provider?: string;
  /** US dollars. */
  readonly costUsd?: number;
  /** How the gateway chose, in its own words. */
  readonly routing?: object;
  /** Why the answer (choice 0) ended. */
  readonly finish?: FinishReason;
}

/** Gathers the receipt of one answer from its events. */
export class ReceiptTally {
  readonly #receipt: { -readonly [K in keyof Receipt]: Receipt[K] } = {};
  readonly #usage = new UsageTally();

  /** Takes the object that holds a receipt's fields: a chunk, a response, a message. */
  report(body: Fields): void {
    const routing = body.routing ?? body.openrouter_metadata;
    // Azure's later chunks have an empty id; Groq's names the request on the first one alone.
    this.#set('id', this.#receipt.id ?? text(body.id));
    this.#set('requestId', text(body.request_id) || this.#receipt.requestId || text(fields(body.x_groq).id));
    this.#set('model', text(body.model));
    this.#set('resolvedModel', text(body.resolved_model) || text(fields(routing).resolved_model));
    this.#set('provider', text(body.provider) || text(fields(routing).provider));
    this.#set('routing', typeof routing === 'object' ? routing : undefined);
    this.#set('costUsd', number(body.cost_usd));
  }

  usage(raw: object): void {
    this.#usage.report(raw);
    this.#set('costUsd', this.#usage.value?.costUsd);
  }

  finish(reason: FinishReason): void {
    this.#set('finish', reason);
  }

  /** `undefined` while nothing is known. */
  get value(): Receipt | undefined {
    return Object.keys(this.#receipt).length ? { ...this.#receipt } : undefined;
  }

  #set<K extends keyof Receipt>(name: K, value: Receipt[K] | null): void {
    if (value || value === 0) this.#receipt[name] = value;
  }
}
