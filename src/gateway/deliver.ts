import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './faults.js';
import type { JournalEntry, JournalOutcome } from './journal.js';
import { Line } from './line.js';
import { Clock, type Pace } from './pace.js';
import { sayingOf } from './problems.js';
import type { Frame, Problem, Rendering } from './protocol.js';

export interface Delivery {
  readonly response: ServerResponse;
  readonly entry: JournalEntry;
  readonly rendering: Rendering;
  readonly fault: Fault | undefined;
  readonly pace: Pace;
  readonly keepAliveMs: number;
  readonly seed: string;
  /** Writes the bill. */
  readonly settle: () => void;
}

/** The client must have read what came before a reset, or its system throws that away too. */
const BEFORE_RESET_MS = 30;

/** Faults after which an answer is not whole, though its terminator may come. */
const BREAKING = new Set<Fault['kind']>(['error', 'failed', 'cut', 'malformed', 'no-done']);
const STRIKING = new Set<Fault['kind']>(['error', 'failed', 'cut', 'reset', 'stall', 'malformed']);

/** Sends an answer as an event stream, and lets the fault strike where it should. */
export async function deliverStream({
  response,
  entry,
  rendering,
  fault,
  pace,
  keepAliveMs,
  seed,
  settle,
}: Delivery): Promise<JournalOutcome> {
  const outcome: JournalOutcome = fault && BREAKING.has(fault.kind) ? 'broken' : 'completed';
  const line = new Line(response, entry, pace.writes, () => {
    if (fault?.kind === 'never-close') return;
    entry.outcome = outcome;
    settle();
  });
  const clock = new Clock(pace, seed);
  const strikeAfter = strikePoint(fault, rendering.plannedTokens);
  let sent = 0;
  let struck = false;

  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  const keepAlive = rendering.keepAlive();
  if (keepAliveMs > 0 && keepAlive.startsWith(':')) await line.raw(keepAlive);

  for await (const frame of rendering.frames()) {
    if (!struck && sent >= strikeAfter && (frame.tokens > 0 || sent >= rendering.plannedTokens)) {
      struck = true;
      await pausing(line, clock.wait(frame.tokens), keepAliveMs, keepAlive);
      await line.flush();
      if (line.gone) return 'hung-up';
      const outcome = await strike(line, frame, sent);
      if (outcome) return outcome;
      sent += frame.tokens;
      continue;
    }
    if (fault?.kind === 'no-done' && frame.terminator) continue;
    await pausing(line, clock.wait(frame.tokens), keepAliveMs, keepAlive);
    if (line.gone) return 'hung-up';
    await line.send(frame);
    sent += frame.tokens;
  }
  await line.flush();
  if (fault?.kind === 'never-close') await line.end();
  else if (line.gone && entry.outcome === 'open') return 'hung-up';
  response.end();
  return outcome;

  async function strike(line: Line, frame: Frame, delivered: number): Promise<JournalOutcome | undefined> {
    switch (fault?.kind) {
      case 'error':
      case 'failed': {
        for (const one of rendering[fault.kind](problemOf(fault), delivered)) await line.send(one);
        await line.flush();
        response.end();
        return 'broken';
      }
      case 'cut':
        if (fault.inFrame) await line.raw(half(frame.text));
        response.end();
        return 'broken';
      case 'reset':
        await sleep(BEFORE_RESET_MS);
        entry.outcome = 'broken';
        response.socket?.resetAndDestroy();
        return 'broken';
      case 'stall':
        while (!line.gone) {
          if (fault.keepAliveMs === undefined) await line.end();
          else {
            await line.raw(keepAlive);
            await line.wait(fault.keepAliveMs);
          }
        }
        return 'hung-up';
      case 'malformed':
        await line.raw(`${half(frame.text)}\n\n`);
        return undefined;
      default:
        return undefined;
    }
  }
}

function strikePoint(fault: Fault | undefined, planned: number): number {
  if (!fault || !STRIKING.has(fault.kind)) return Infinity;
  const after = 'after' in fault && typeof fault.after === 'number' ? fault.after : 0;
  return Math.min(after, planned);
}

/** A wait in which the client hears now and then that it is not forgotten. */
async function pausing(line: Line, ms: number, keepAliveMs: number, keepAlive: string): Promise<void> {
  let left = ms;
  while (keepAliveMs > 0 && left > keepAliveMs && !line.gone) {
    await line.wait(keepAliveMs);
    await line.raw(keepAlive);
    left -= keepAliveMs;
  }
  await line.wait(left);
}

export function problemOf(fault: {
  readonly status?: number;
  readonly code?: string;
  readonly message?: string;
}): Problem {
  const status = fault.status ?? 502;
  return { status, code: fault.code, message: fault.message ?? sayingOf(status) };
}

/** All but the last part of a frame's data: no JSON any more. */
const half = (text: string) =>
  text.slice(0, Math.max(text.indexOf('data: ') + 8, Math.floor(text.trimEnd().length * 0.6)));

/** Sends an answer in one piece, once the time is over that it would have taken to stream. */
export async function deliverWhole({
  response,
  entry,
  rendering,
  fault,
  pace,
  seed,
  settle,
}: Delivery): Promise<JournalOutcome> {
  const line = new Line(response, entry, undefined);
  const clock = new Clock(pace, seed);
  await line.wait(clock.wait(rendering.plannedTokens));
  if (line.gone) return 'hung-up';
  const body = Buffer.from(JSON.stringify(await rendering.whole()));
  if (fault?.kind === 'stall') {
    await line.end();
    return 'hung-up';
  }
  const sound = fault?.kind !== 'malformed';
  const sent = sound ? body : body.subarray(0, Math.floor(body.length / 2));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': sent.length });
  if (fault?.kind === 'reset' || fault?.kind === 'cut') {
    response.write(body.subarray(0, Math.floor(body.length / 2)));
    await sleep(BEFORE_RESET_MS);
    entry.outcome = 'broken';
    if (fault.kind === 'reset') response.socket?.resetAndDestroy();
    else response.destroy();
    return 'broken';
  }
  const over = line.end();
  entry.firstTokenMs = Date.now() - entry.at;
  entry.tokensDelivered = rendering.plannedTokens;
  entry.bytesDelivered = sent.length;
  response.end(sent);
  // Written down at once, for a client in this very process; and taken back if the client did not wait for it.
  entry.outcome = sound ? 'completed' : 'broken';
  settle();
  await over;
  if (response.writableFinished) return entry.outcome;
  Object.assign(entry, { tokensDelivered: 0, bytesDelivered: 0, firstTokenMs: undefined, billed: undefined });
  entry.hungUpMs = Date.now() - entry.at;
  return 'hung-up';
}
