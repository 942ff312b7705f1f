import type { FaultLike } from './faults.js';
import type { JournalEntry } from './journal.js';
import type { Pace } from './pace.js';
import type { Dialect } from './protocol.js';

export interface GatewayOptions {
  /** Default 0: a free one. */
  readonly port?: number;
  /** Default `127.0.0.1`: not reachable from other machines. */
  readonly host?: string;
  /** Which gateway's words are spoken; a request may choose with `x-gateway-dialect` or `?dialect=`. Default `'a'`. */
  readonly dialect?: Dialect;
  /** Same seed, same request: same answer. Default `'rx-llm'`. */
  readonly seed?: string | number;
  /** The keys that are let in. Default: any key that is not empty. */
  readonly apiKeys?: readonly string[];
  /** The models that exist; others get 404. Default: any name is taken, and `/v1/models` lists a few. */
  readonly models?: readonly string[];
  /** How fast answers come; a request may choose with `x-gateway-pace`. Default: at once. */
  readonly pace?: Pace;
  /** Strikes every request that neither the script nor its own `x-gateway-fault` header has a fault for. */
  readonly fault?: FaultLike;
  /** One entry a request, in order of arrival; `null` is an answer without a fault. */
  readonly script?: readonly (FaultLike | null)[];
  /** Largest request body, in bytes; larger ones get 413. Default 32 MiB. */
  readonly maxBodyBytes?: number;
  /** Comments (on Messages of gateway B, pings) while the client waits for a token: one at once, then every so many milliseconds. 0: none. Default 15 000. */
  readonly keepAliveMs?: number;
  /** Entries kept in the journal, the newest. Default 10 000. */
  readonly journalLimit?: number;
  /** Called when a request has ended. */
  readonly onEnd?: (entry: JournalEntry) => void;
}

export interface Gateway {
  /** Ends in `/v1` and fits `baseUrl`. */
  readonly url: string;
  readonly port: number;
  /** All requests so far, oldest first. */
  readonly journal: readonly JournalEntry[];
  /** Adds to the script: faults (or `null` for none) for the next requests, one each. */
  script(...faults: readonly (FaultLike | null)[]): void;
  /** Resolves once no request is running; hang-ups have reached the journal by then. */
  idle(): Promise<void>;
  /** Ends every answer and connection and stops listening. */
  close(): Promise<void>;
}
