import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Exchange } from './exchange-server.js';
import type { WireName } from './reading.js';

export const DATA = join(__dirname, '..', 'data');

export interface ExpectedCall {
  readonly id?: string | null;
  readonly name: string;
  readonly arguments: string;
  /** Its text is free, and no JSON. */
  readonly custom?: boolean;
}

interface Answer {
  readonly origin?: 'other';
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly chunks?: readonly number[];
  readonly heartbeatMs?: number;
  readonly heartbeats?: number;
  readonly keepOpen?: boolean;
  readonly closeAbruptly?: boolean;
  readonly delayBeforeCloseMs?: number;
}

/** One exchange and the right answer. */
export interface Case extends Answer {
  readonly id: string;
  readonly kind: string;
  readonly endpoint: WireName;
  readonly attempts?: readonly Answer[];
  readonly client?: {
    readonly operator?: string;
    readonly count?: number;
    readonly baseDelayMs?: number;
    readonly take?: number;
    readonly idleTimeoutMs?: number;
    readonly subscribeTimes?: number;
    readonly preAborted?: boolean;
    readonly observeMs?: number;
    readonly transport?: string;
  };
  readonly expect: {
    readonly text: string;
    readonly reasoning: string;
    readonly refusal?: string;
    readonly toolCalls: readonly ExpectedCall[];
    readonly finishReason: string | null;
    readonly usage: Readonly<Record<string, number | null>> | null;
    readonly error: {
      readonly kind: string | null;
      readonly name?: string;
      readonly code: string | number | null;
      readonly messageContains: string | null;
    } | null;
    readonly events?: number;
    readonly eventsBeforeError?: number;
    readonly choices?: readonly { readonly index: number; readonly text: string; readonly finishReason: string }[];
    readonly images?: { readonly partials: number; readonly completed: number; readonly finalBase64Length?: number };
    readonly server?: {
      readonly requests?: number;
      readonly connectionClosedByClient?: boolean;
      readonly minDelayMs?: number;
      readonly maxDelayMs?: number;
      readonly headersAbsentAtOtherOrigin?: readonly string[];
    };
  };
  readonly mustNot?: { readonly textContains?: string; readonly argumentsEqual?: readonly string[] };
  readonly free?: readonly string[];
}

export function loadCases(): Case[] {
  const folder = join(DATA, 'cases');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Case);
}

/** What the server of a case does, with whatever depends on the moment filled in. */
export function exchangeOf(answer: Answer, otherOrigin: string): Exchange {
  const fill = (value: string): string =>
    value
      .replace('{{OTHER_ORIGIN}}', otherOrigin)
      .replace(/\{\{HTTP_DATE:([+-]\d+)s\}\}/, (_, seconds: string) =>
        new Date(Date.now() + Number(seconds) * 1000).toUTCString(),
      );
  const { body = '', bodyBase64, chunks } = answer;
  return {
    status: answer.httpStatus,
    headers: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, fill(value)])),
    body: bodyBase64 === undefined ? Buffer.from(body) : Buffer.from(bodyBase64, 'base64'),
    ...(chunks && { writes: chunks }),
    ...(answer.heartbeats !== undefined && { heartbeats: answer.heartbeats, heartbeatMs: answer.heartbeatMs ?? 10 }),
    keepOpen: answer.keepOpen ?? false,
    closeAbruptly: answer.closeAbruptly ?? false,
    delayBeforeCloseMs: answer.delayBeforeCloseMs ?? 0,
  };
}

/** A generator of numbers in [0, 1) that gives the same ones every time. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

export function randomWrites(length: number, random: () => number, most = 97): number[] {
  const writes: number[] = [];
  // Few enough writes to be quick, however long the body is.
  const scale = Math.max(most, Math.ceil(length / 40));
  for (let at = 0; at < length; at += writes.at(-1) ?? 1) writes.push(1 + Math.floor(random() * scale));
  return writes;
}
