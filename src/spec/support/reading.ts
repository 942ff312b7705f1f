import { EMPTY, catchError, from, throwError, concat, type Observable, type OperatorFunction } from 'rxjs';
import {
  LlmStreamError,
  accumulateToolCalls,
  finalUsage,
  finishReason,
  reasoningDeltas,
  refusalDeltas,
  textDeltas,
  toolCalls,
  type EndpointName,
  type LlmClient,
  type ToolCall,
  type Usage,
} from 'rx-llm';

export type WireName = 'chat' | 'responses' | 'messages' | 'images';

export const ENDPOINT: Readonly<Record<WireName, EndpointName>> = {
  chat: 'chatCompletions',
  responses: 'responses',
  messages: 'messages',
  images: 'images',
};

/** What the operators make of one stream. */
export interface Reading {
  readonly events: readonly { readonly type?: unknown }[];
  readonly error: unknown;
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly toolCalls: readonly ToolCall[];
  readonly snapshot: readonly ToolCall[];
  readonly finishReason: string | null;
  readonly usage: Usage | undefined;
}

export function open(client: LlmClient, endpoint: WireName, request: object = {}): Observable<object> {
  const method = client[ENDPOINT[endpoint]].bind(client) as (request: object) => Observable<object>;
  return method(request);
}

/** Everything that a source emits, and its error if it fails. */
export async function record<T>(source: Observable<T>): Promise<{ values: T[]; error: unknown }> {
  return new Promise((resolve) => {
    const values: T[] = [];
    source.subscribe({
      next: (value) => values.push(value),
      error: (error: unknown) => {
        resolve({ values, error });
      },
      complete: () => {
        resolve({ values, error: undefined });
      },
    });
  });
}

/** Runs the operators over a recorded stream, its error included. */
export function readRecorded(events: readonly object[], error: unknown): Reading {
  const replay = concat(from(events), error === undefined ? EMPTY : throwError(() => error)) as Observable<never>;
  const run = <T>(operator: OperatorFunction<never, T>): T[] => {
    const values: T[] = [];
    let raised: unknown;
    replay
      .pipe(
        operator,
        catchError((failure: unknown) => {
          raised = failure;
          return EMPTY;
        }),
      )
      .subscribe((value) => values.push(value));
    if (raised !== error) throw new Error(`An operator raised another error: ${String(raised)}`);
    return values;
  };
  return {
    events,
    error,
    text: run(textDeltas()).join(''),
    reasoning: run(reasoningDeltas()).join(''),
    refusal: run(refusalDeltas()).join(''),
    toolCalls: run(toolCalls()),
    snapshot: run(accumulateToolCalls()).at(-1) ?? [],
    finishReason: run(finishReason()).at(-1)?.raw ?? null,
    usage: error instanceof LlmStreamError ? error.usage : run(finalUsage()).at(-1),
  };
}
