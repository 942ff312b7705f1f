import type { Ask, Plan } from './content/plan.js';
import type { Json } from './json.js';

export type Dialect = 'a' | 'b';
export type GatewayEndpoint = 'chatCompletions' | 'responses' | 'messages' | 'images';

/** Something that goes wrong, in no endpoint's words yet. */
export interface Problem {
  readonly status: number;
  readonly message: string;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  readonly param?: string | undefined;
}

/** Thrown where a request is read; becomes the endpoint's own error body. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

export function bad(param: string | undefined, message: string): never {
  throw new RequestProblem({ status: 400, message, code: 'invalid_value', param });
}

/** One server-sent event, ready for the wire. */
export interface Frame {
  readonly text: string;
  /** How many output tokens the client has got once this frame is out. */
  readonly tokens: number;
  /** The frame without which the stream is not complete. */
  readonly terminator?: boolean;
}

export interface Receipt {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export interface Answer {
  readonly dialect: Dialect;
  /** `req_…` */
  readonly requestId: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
  readonly resolvedModel: string;
  readonly requestedModels: readonly string[];
  readonly provider: string;
  readonly body: Json;
  readonly userAgent: string;
  /** What the tokens cost, in USD. */
  cost(inputTokens: number, cachedTokens: number, outputTokens: number): number;
  readonly toolIndexes: 'right' | 'zero' | 'missing';
  /** Bytes that the (first final) image must have at least. */
  readonly hugeBytes: number;
}

/** An answer on its way: frames in order, and the ways in which it can break off at any point between them. */
export interface Rendering {
  readonly plannedTokens: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  frames(): Iterable<Frame> | AsyncIterable<Frame>;
  /** An error frame in the middle of the stream; `delivered` tokens are out already. */
  error(problem: Problem, delivered: number): Frame[];
  /** The final event that says the answer failed, where the endpoint has one. */
  failed(problem: Problem, delivered: number): Frame[];
  /** What keeps the connection warm. */
  keepAlive(): string;
  /** The answer in one piece, for requests that do not stream. */
  whole(): Json | Promise<Json>;
}

export const comment = (text: string): string => `: ${text}\n\n`;
export const data = (value: unknown, tokens = 0): Frame => ({ text: `data: ${JSON.stringify(value)}\n\n`, tokens });
export const event = (value: Json & { type: string }, tokens = 0): Frame => ({
  text: `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`,
  tokens,
});
export const DONE: Frame = { text: 'data: [DONE]\n\n', tokens: 0, terminator: true };

export type { Ask, Plan };
