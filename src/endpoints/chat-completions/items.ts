import type { EachType, OpenWord } from '../open.js';

/** The wire's word; `finishReason()` gives one vocabulary for every endpoint. */
export type ChatFinishReason = OpenWord<
  'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call' | 'error'
>;

export type ChatContentPart = ChatTextPart | ChatThinkingPart | ChatReferencePart | ChatImage;

export interface ChatTextPart {
  readonly type: 'text';
  readonly text: string;
}

export interface ChatThinkingPart {
  readonly type: 'thinking';
  readonly thinking: string | readonly (ChatTextPart | ChatReferencePart)[];
  readonly signature?: string | null;
  readonly closed?: boolean;
}

export interface ChatReferencePart {
  readonly type: 'reference';
  readonly reference_ids: readonly (number | string)[];
}

export interface ChatImage {
  readonly type: 'image_url';
  /** `url` is a data URL, which may be megabytes long. */
  readonly image_url: string | { readonly url: string; readonly detail?: string };
}

/** A piece of a tool call; how pieces belong together differs from server to server, see `accumulateToolCalls()`. */
export interface ChatToolCallDelta {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly type?: OpenWord<'function' | 'custom'> | null;
  readonly function?: ChatFunctionCallDelta | null;
  readonly custom?: { readonly name?: string | null; readonly input?: string | null } | null;
  /** Opaque, and to be sent back with the call (Gemini's thought signatures). */
  readonly extra_content?: object | null;
}

export interface ChatFunctionCallDelta {
  readonly name?: string | null;
  /** A piece of JSON text; some servers send the object itself. */
  readonly arguments?: string | object | null;
}

export type ChatReasoningDetail =
  ChatReasoningTextDetail | ChatReasoningSummaryDetail | ChatReasoningEncryptedDetail | ChatReasoningServerToolDetail;

interface ChatReasoningDetailBase {
  readonly id?: string | null;
  readonly index?: number | null;
  readonly format?: string | null;
}

export interface ChatReasoningTextDetail extends ChatReasoningDetailBase {
  readonly type: 'reasoning.text';
  readonly text?: string | null;
  readonly signature?: string | null;
}

export interface ChatReasoningSummaryDetail extends ChatReasoningDetailBase {
  readonly type: 'reasoning.summary';
  readonly summary?: string | null;
}

export interface ChatReasoningEncryptedDetail extends ChatReasoningDetailBase {
  readonly type: 'reasoning.encrypted';
  readonly data?: string | null;
}

export interface ChatReasoningServerToolDetail extends ChatReasoningDetailBase {
  readonly type: 'reasoning.server_tool_call';
  readonly tool_name?: string | null;
  readonly tool_call_id?: string | null;
  readonly arguments?: unknown;
  readonly result?: unknown;
}

export type ChatAnnotation = ChatUrlCitation | ChatFileAnnotation | ChatDocumentCitation | ChatFunctionCitation;

export interface ChatUrlCitation {
  readonly type: 'url_citation';
  readonly url_citation: {
    readonly url: string;
    readonly title?: string | null;
    readonly content?: string | null;
    readonly start_index?: number | null;
    readonly end_index?: number | null;
  };
}

export type ChatFileAnnotation = EachType<
  'file' | 'file_annotation',
  {
    readonly file?: object | null;
    readonly file_annotation?: object | null;
  }
>;

export interface ChatDocumentCitation {
  readonly type: 'document_citation';
  readonly document_citation: {
    readonly document_id?: string | null;
    readonly start_index?: number | null;
    readonly end_index?: number | null;
  };
}

export interface ChatFunctionCitation {
  readonly type: 'function_citation';
  readonly function_citation: {
    readonly tool_call_id?: string | null;
    readonly start_index?: number | null;
    readonly end_index?: number | null;
  };
}

export interface ChatAudio {
  readonly id?: string;
  /** Base64. */
  readonly data?: string;
  readonly transcript?: string;
  /** Seconds since 1970. */
  readonly expires_at?: number;
}

export interface ChatLogprobs {
  readonly content?: readonly ChatTokenLogprob[] | null;
  readonly refusal?: readonly ChatTokenLogprob[] | null;
  readonly reasoning_content?: readonly ChatTokenLogprob[] | null;
}

export interface ChatTokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes?: readonly number[] | null;
  readonly top_logprobs?: readonly Omit<ChatTokenLogprob, 'top_logprobs'>[];
}

/** Token counts as they stand on the wire; `finalUsage()` gives one shape for every endpoint. */
export interface ChatUsage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly total_tokens?: number | null;
  readonly prompt_tokens_details?: ChatPromptTokensDetails | null;
  readonly completion_tokens_details?: ChatCompletionTokensDetails | null;
  /** US dollars; Perplexity sends an object. */
  readonly cost?: number | string | { readonly total_cost?: number | null } | null;
  readonly cost_details?: object | null;
  readonly is_byok?: boolean | null;
  readonly server_tool_use_details?: object | null;
  /** DeepSeek. */
  readonly prompt_cache_hit_tokens?: number | null;
  readonly prompt_cache_miss_tokens?: number | null;
  /** Mistral. */
  readonly num_cached_tokens?: number | null;
  /** xAI: US dollars times 10¹⁰. */
  readonly cost_in_usd_ticks?: number | null;
  /** Perplexity. */
  readonly reasoning_tokens?: number | null;
  readonly citation_tokens?: number | null;
  readonly num_search_queries?: number | null;
  /** Groq, in seconds. */
  readonly queue_time?: number | null;
  readonly prompt_time?: number | null;
  readonly completion_time?: number | null;
  readonly total_time?: number | null;
}

export interface ChatPromptTokensDetails {
  readonly cached_tokens?: number | null;
  readonly cache_write_tokens?: number | null;
  readonly cache_creation_tokens?: number | null;
  readonly audio_tokens?: number | null;
  readonly image_tokens?: number | null;
  readonly text_tokens?: number | null;
  readonly video_tokens?: number | null;
  readonly file_tokens?: number | null;
}

export interface ChatCompletionTokensDetails {
  readonly reasoning_tokens?: number | null;
  readonly audio_tokens?: number | null;
  readonly image_tokens?: number | null;
  readonly text_tokens?: number | null;
  readonly accepted_prediction_tokens?: number | null;
  readonly rejected_prediction_tokens?: number | null;
}

/** How a gateway chose who answered. */
export interface ChatRouting {
  readonly strategy?: string | null;
  readonly requested_models?: readonly string[] | null;
  readonly resolved_model?: string | null;
  readonly provider?: string | null;
  readonly fallbacks_allowed?: boolean | null;
  readonly data_policy?: string | null;
}
