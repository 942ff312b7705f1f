import type { OpenWord } from '../open.js';
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
  ChatUsage,
} from './items.js';
import type { ChatErrorBody } from './wire.js';

/** What `/chat/completions` returns when it does not stream; built up from chunks by `accumulateMessage()`. */
export interface ChatCompletion {
  readonly id?: string;
  readonly object: 'chat.completion';
  /** Seconds since 1970. */
  readonly created?: number;
  readonly model?: string;
  readonly choices: readonly ChatCompletionChoice[];
  readonly usage?: ChatUsage | null;
  readonly service_tier?: string | null;
  readonly system_fingerprint?: string | null;
  readonly error?: ChatErrorBody | string | null;
  readonly provider?: string | null;
  readonly resolved_model?: string | null;
  readonly request_id?: string | null;
  readonly cost_usd?: number | string | null;
  readonly routing?: ChatRouting | null;
  readonly citations?: readonly string[] | null;
  readonly search_results?: readonly object[] | null;
}

export interface ChatCompletionChoice {
  readonly index: number;
  readonly message: ChatCompletionMessage;
  /** `null` while the choice is not finished. */
  readonly finish_reason: ChatFinishReason | null;
  readonly native_finish_reason?: string | null;
  readonly stop_reason?: string | number | null;
  readonly logprobs?: ChatLogprobs | null;
}

export interface ChatCompletionMessage {
  readonly role: OpenWord<'assistant'>;
  /** `null` until text comes; parts where the server sent any (Mistral). */
  readonly content: string | readonly ChatContentPart[] | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly ChatReasoningDetail[];
  readonly tool_calls?: readonly ChatMessageToolCall[];
  readonly function_call?: ChatFunctionCallDelta;
  readonly audio?: ChatAudio;
  readonly annotations?: readonly ChatAnnotation[];
  readonly images?: readonly ChatImage[];
  readonly executed_tools?: readonly object[];
}

export type ChatMessageToolCall = ChatMessageFunctionCall | ChatMessageCustomCall;

export interface ChatMessageFunctionCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  /** Opaque, and to be sent back with the call. */
  readonly extra_content?: object | null;
}

export interface ChatMessageCustomCall {
  readonly id: string;
  readonly type: 'custom';
  readonly custom: { readonly name: string; readonly input: string };
  readonly extra_content?: object | null;
}
