import type { OpenWord, WithExtras } from '../open.js';
import type {
  ContentBlock,
  MessageObject,
  MessageContextManagement,
  MessageContainer,
  MessageStopDetails,
  MessageStopReason,
  MessageUsage,
  TextCitation,
} from './items.js';

/** What `/messages` takes. `stream: true` is set by the library. */
export interface MessageParams {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly MessageTurn[];
  readonly system?: string | readonly object[];
  readonly stream?: boolean;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly stop_sequences?: readonly string[];
  readonly tools?: readonly object[];
  readonly tool_choice?: {
    readonly type: string;
    readonly name?: string;
    readonly disable_parallel_tool_use?: boolean;
  };
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number; readonly display?: string | null };
  readonly metadata?: { readonly user_id?: string | null };
  readonly container?: string | object | null;
  readonly context_management?: object | null;
  readonly mcp_servers?: readonly object[];
  readonly service_tier?: string;
}

/** What `/messages` takes, a gateway's own fields included. */
export type MessageRequest = WithExtras<MessageParams>;

/** One turn of the conversation that is sent. */
export interface MessageTurn {
  readonly role: OpenWord<'user' | 'assistant' | 'system'>;
  readonly content: string | readonly MessageTurnBlock[];
}

/** A block of a turn: `text`, `image`, `document`, `tool_result`, or one that the model sent before. */
export interface MessageTurnBlock {
  readonly type: string;
}

/** One event of a streamed message; narrows on `type`. */
export type MessageStreamEvent =
  | MessageStartEvent
  | ContentBlockStartEvent
  | ContentBlockDeltaEvent
  | ContentBlockStopEvent
  | MessageDeltaEvent
  | MessageStopEvent
  | MessagePingEvent
  | MessageErrorEvent;

export interface MessageStartEvent {
  readonly type: 'message_start';
  /** Usually without content; usage has the input side. */
  readonly message: MessageObject;
}

export interface ContentBlockStartEvent {
  readonly type: 'content_block_start';
  readonly index: number;
  readonly content_block: ContentBlock;
}

export interface ContentBlockDeltaEvent {
  readonly type: 'content_block_delta';
  readonly index: number;
  readonly delta: ContentBlockDelta;
}

export interface ContentBlockStopEvent {
  readonly type: 'content_block_stop';
  readonly index: number;
}

export interface MessageDeltaEvent {
  readonly type: 'message_delta';
  readonly delta: {
    readonly stop_reason?: MessageStopReason | null;
    readonly stop_sequence?: string | null;
    readonly stop_details?: MessageStopDetails | null;
    readonly container?: MessageContainer | null;
    readonly safeguard_results?: unknown;
  };
  /** Totals of the whole message so far, not increments. */
  readonly usage?: MessageUsage | null;
  readonly context_management?: MessageContextManagement | null;
  readonly input_transformations?: unknown;
}

export interface MessageStopEvent {
  readonly type: 'message_stop';
}

export interface MessagePingEvent {
  readonly type: 'ping';
}

/** A failure. The client raises it as an error. */
export interface MessageErrorEvent {
  readonly type: 'error';
  readonly error: MessageErrorBody;
  readonly request_id?: string | null;
}

export interface MessageErrorBody {
  readonly type?: OpenWord<
    | 'invalid_request_error'
    | 'authentication_error'
    | 'billing_error'
    | 'permission_error'
    | 'not_found_error'
    | 'conflict_error'
    | 'request_too_large'
    | 'rate_limit_error'
    | 'api_error'
    | 'timeout_error'
    | 'overloaded_error'
  >;
  readonly message?: string;
  readonly code?: string | number | null;
  readonly details?: { readonly error_code?: string | null } | null;
}

/** What a `content_block_delta` adds to its block; narrows on `type`. */
export type ContentBlockDelta =
  TextDelta | InputJsonDelta | ThinkingDelta | SignatureDelta | CitationsDelta | CompactionDelta;

export interface TextDelta {
  readonly type: 'text_delta';
  readonly text: string;
}

export interface InputJsonDelta {
  readonly type: 'input_json_delta';
  /** A piece of JSON text; only the whole parses. */
  readonly partial_json: string;
}

export interface ThinkingDelta {
  readonly type: 'thinking_delta';
  readonly thinking: string;
  readonly estimated_tokens?: number | null;
}

/** The whole signature, not a piece. */
export interface SignatureDelta {
  readonly type: 'signature_delta';
  readonly signature: string;
}

export interface CitationsDelta {
  readonly type: 'citations_delta';
  readonly citation: TextCitation;
}

/** The whole compaction, not a piece; `null` when it failed. */
export interface CompactionDelta {
  readonly type: 'compaction_delta';
  readonly content: string | null;
  readonly encrypted_content?: string | null;
}
