import { refuse, type Exchange } from './exchange.js';
import type { Fault } from './faults.js';
import { errorBody, sayingOf } from './problems.js';
import type { Rendering } from './protocol.js';

const SIGN_IN =
  '<!doctype html>\n<html><head><title>Sign in</title></head><body>Please sign in to use this network.</body></html>\n';

/** Faults that come instead of an answer. Resolves with `false` where the answer is to begin. */
export async function strikeInstead(exchange: Exchange, fault: Fault, rendering: Rendering): Promise<boolean> {
  const { request, response, entry } = exchange;
  switch (fault.kind) {
    case 'status': {
      const { status, code, type, retryAfter, retryAfterDate, retryAfterMs, shouldRetry } = fault;
      if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
      if (retryAfterDate !== undefined) {
        response.setHeader('retry-after', new Date(Date.now() + retryAfterDate * 1000).toUTCString());
      }
      if (retryAfterMs !== undefined) response.setHeader('retry-after-ms', String(retryAfterMs));
      if (shouldRetry !== undefined) response.setHeader('x-should-retry', String(shouldRetry));
      refuse(exchange, { status, code, type, message: fault.message ?? sayingOf(status) });
      return true;
    }
    case 'html':
      entry.status = 200;
      entry.outcome = 'broken';
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(SIGN_IN);
      return true;
    case 'json': {
      entry.status = 200;
      const unavailable = { status: 503, message: sayingOf(503) };
      const value = fault.answer
        ? await rendering.whole()
        : errorBody(unavailable, entry.endpoint, entry.dialect, entry.requestId);
      if (fault.answer) entry.tokensDelivered = entry.tokensPlanned;
      entry.outcome = fault.answer ? 'completed' : 'broken';
      response.writeHead(200, { 'content-type': fault.contentType ?? 'application/json' }).end(JSON.stringify(value));
      return true;
    }
    case 'reset':
      if (fault.after !== 'headers') return false;
      entry.outcome = 'broken';
      request.socket.resetAndDestroy();
      return true;
    case 'stall':
      if (fault.after !== 'headers') return false;
      if (!response.destroyed) await new Promise((resolve) => response.once('close', resolve));
      entry.outcome = 'hung-up';
      return true;
    default:
      return false;
  }
}
