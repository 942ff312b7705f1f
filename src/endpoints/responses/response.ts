import type { OpenWord } from '../open.js';
import type { ResponseOutputItem } from './items.js';

/** What `/responses` returns when it does not stream; built up from events by `accumulateMessage()`. */
export interface ResponseObject {
  readonly id?: string;
  readonly object?: 'response';
  /** Seconds since 1970. */
  readonly created_at?: number;
  readonly completed_at?: number | null;
  readonly status?: ResponseStatus | null;
  readonly model?: string;
  readonly output: readonly ResponseOutputItem[];
  readonly error?: ResponseErrorBody | null;
  readonly incomplete_details?: { readonly reason?: ResponseIncompleteReason | null } | null;
  readonly usage?: ResponseUsage | null;
  readonly instructions?: unknown;
  readonly metadata?: Readonly<Record<string, string>> | null;
  readonly parallel_tool_calls?: boolean | null;
  readonly previous_response_id?: string | null;
  readonly reasoning?: object | null;
  readonly service_tier?: string | null;
  readonly store?: boolean | null;
  readonly temperature?: number | null;
  readonly text?: object | null;
  readonly tool_choice?: string | object | null;
  readonly tools?: readonly object[] | null;
  readonly top_p?: number | null;
  readonly truncation?: string | null;
  readonly background?: boolean | null;
  readonly max_output_tokens?: number | null;
  readonly user?: string | null;
  /** All text of the output; some gateways send it. */
  readonly output_text?: string | null;

  /** Receipt: who answered, and what it cost. */
  readonly provider?: string | null;
  readonly resolved_model?: string | null;
  readonly request_id?: string | null;
  readonly cost_usd?: number | string | null;
  readonly routing?: ResponseRouting | null;
}

export type ResponseStatus = OpenWord<'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'>;

export type ResponseIncompleteReason = OpenWord<'max_output_tokens' | 'content_filter' | 'max_messages' | 'steered'>;

export interface ResponseErrorBody {
  readonly code?: string | number | null;
  readonly message?: string | null;
  readonly type?: string | null;
  readonly param?: string | null;
  readonly headers?: object | null;
}

/** Token counts as they stand on the wire; `finalUsage()` gives one shape for every endpoint. */
export interface ResponseUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly total_tokens?: number | null;
  readonly input_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
    readonly cache_creation_tokens?: number | null;
  } | null;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  /** US dollars; gateways add it. */
  readonly cost?: number | string | null;
  readonly cost_details?: object | null;
  readonly is_byok?: boolean | null;
  readonly server_tool_use_details?: object | null;
  /** Some gateways use the names of chat here. */
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly prompt_tokens_details?: object | null;
  readonly completion_tokens_details?: object | null;
}

/** How a gateway chose who answered. */
export interface ResponseRouting {
  readonly strategy?: string | null;
  readonly requested_models?: readonly string[] | null;
  readonly resolved_model?: string | null;
  readonly provider?: string | null;
  readonly fallbacks_allowed?: boolean | null;
  readonly data_policy?: string | null;
}
