import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson } from './http.js';
import type { JournalEntry } from './journal.js';
import { errorBody } from './problems.js';
import type { Problem } from './protocol.js';

/** One request, its answer, and what the journal says of both. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly entry: JournalEntry;
}

/** Answers with an error status, in the words of the endpoint and dialect. */
export function refuse({ response, entry }: Exchange, problem: Problem): void {
  entry.status = problem.status;
  entry.outcome = 'refused';
  sendJson(response, problem.status, errorBody(problem, entry.endpoint, entry.dialect, entry.requestId));
}
