import type { OpenWord, WithExtras } from '../open.js';
import type {
  ChatAnnotation,
  ChatAudio,
  ChatContentPart,
  ChatFinishReason,
  ChatFunctionCallDelta,
  ChatImage,
  ChatLogprobs,
  ChatReasoningDetail,
  ChatRouting,
  ChatToolCallDelta,
  ChatUsage,
} from './items.js';
import type { ChatMessage, ChatTool, ChatToolChoice } from './request.js';

/** What `/chat/completions` takes. `stream: true` is set by the library. */
export interface ChatCompletionParams {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean | null;
  readonly stream_options?: ChatStreamOptions | null;
  readonly n?: number | null;
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly stop?: string | readonly string[] | null;
  readonly seed?: number | null;
  readonly presence_penalty?: number | null;
  readonly frequency_penalty?: number | null;
  readonly logit_bias?: Readonly<Record<string, number>> | null;
  readonly logprobs?: boolean | null;
  readonly top_logprobs?: number | null;
  readonly tools?: readonly ChatTool[];
  readonly tool_choice?: ChatToolChoice;
  readonly parallel_tool_calls?: boolean;
  readonly response_format?: { readonly type: string };
  readonly reasoning_effort?: string | null;
  readonly modalities?: readonly string[] | null;
  readonly audio?: object | null;
  readonly metadata?: Readonly<Record<string, string>> | null;
  readonly service_tier?: string | null;
  readonly store?: boolean | null;
  readonly user?: string;
}

/** What `/chat/completions` takes, a gateway's own fields included. */
export type ChatCompletionRequest = WithExtras<ChatCompletionParams>;

export interface ChatStreamOptions {
  readonly include_usage?: boolean;
  readonly include_obfuscation?: boolean;
}

/**
 * One event of a streamed chat completion. Only what every server agrees on could be required, and that is nothing:
 * usage chunks have no choices, error frames nothing but `error`.
 */
export interface ChatCompletionChunk {
  /** A chunk has no `type`: this is what tells it from the events of the other endpoints. */
  readonly type?: undefined;
  /** The same on all chunks of one answer; may be empty. */
  readonly id?: string | null;
  readonly object?: OpenWord<'chat.completion.chunk'> | null;
  /** Seconds since 1970. */
  readonly created?: number | null;
  readonly model?: string | null;
  readonly choices?: readonly ChatChunkChoice[] | null;
  /** A snapshot: the last one counts. */
  readonly usage?: ChatUsage | null;
  readonly service_tier?: string | null;
  readonly system_fingerprint?: string | null;
  /** Random padding. */
  readonly obfuscation?: string;
  readonly moderation?: object | null;
  readonly error?: ChatErrorBody | string | null;

  /** Receipt: who answered, and what it cost. */
  readonly provider?: string | null;
  readonly resolved_model?: string | null;
  readonly request_id?: string | null;
  readonly cost_usd?: number | string | null;
  readonly routing?: ChatRouting | null;

  readonly openrouter_metadata?: object | null;
  readonly x_groq?: ChatGroqExtension | null;
  /** Repeated as a whole on chunks (Perplexity, xAI): replace, do not append. */
  readonly citations?: readonly string[] | null;
  readonly search_results?: readonly object[] | null;
  readonly images?: readonly object[] | null;
  readonly related_questions?: readonly string[] | null;
  readonly prompt_filter_results?: readonly object[] | null;
  readonly timings?: object | null;
  readonly perf_metrics?: object | null;
  readonly provider_specific_fields?: object | null;
}

export interface ChatChunkChoice {
  /** The number of the choice; 0 where it is absent. */
  readonly index?: number | null;
  readonly delta?: ChatDelta | null;
  /** `null`, absent and empty all mean "not finished". */
  readonly finish_reason?: ChatFinishReason | null;
  readonly native_finish_reason?: string | null;
  readonly stop_reason?: string | number | null;
  readonly logprobs?: ChatLogprobs | null;
  /** The whole message so far, beside the delta (Perplexity). */
  readonly message?: object | null;
  readonly error?: ChatErrorBody | string | null;
  /** Some servers put usage here, instead of at the top. */
  readonly usage?: ChatUsage | null;
  readonly content_filter_results?: object | null;
  readonly content_filter_offsets?: object | null;
}

export interface ChatDelta {
  readonly role?: OpenWord<'assistant'> | null;
  /** Text, or parts (Mistral). */
  readonly content?: string | readonly ChatContentPart[] | null;
  readonly refusal?: string | false | null;
  /** The three carriers of reasoning hold the same words where several are present. */
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly ChatReasoningDetail[] | null;
  readonly tool_calls?: readonly ChatToolCallDelta[] | null;
  /** The older form of a tool call. */
  readonly function_call?: ChatFunctionCallDelta | null;
  readonly audio?: ChatAudio | null;
  readonly annotations?: readonly ChatAnnotation[] | null;
  readonly images?: readonly ChatImage[] | null;
  readonly executed_tools?: readonly object[] | null;
  readonly provider_specific_fields?: object | null;
}

export interface ChatGroqExtension {
  readonly id?: string | null;
  readonly usage?: ChatUsage | null;
  readonly error?: string | null;
}

export interface ChatErrorBody {
  readonly message?: string | null;
  readonly code?: string | number | null;
  readonly type?: string | null;
  readonly param?: string | null;
  readonly metadata?: object | null;
  readonly status_code?: number | null;
  readonly failed_generation?: string | null;
}
