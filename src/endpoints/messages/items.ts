import type { OpenWord } from '../open.js';

/** What `/messages` returns when it does not stream; built up from events by `accumulateMessage()`. */
export interface MessageObject {
  readonly id?: string;
  readonly type?: 'message';
  readonly role?: OpenWord<'assistant'>;
  readonly model?: string;
  readonly content: readonly ContentBlock[];
  readonly stop_reason: MessageStopReason | null;
  readonly stop_sequence?: string | null;
  readonly stop_details?: MessageStopDetails | null;
  readonly usage?: MessageUsage;
  readonly container?: MessageContainer | null;
  readonly context_management?: MessageContextManagement | null;
}

/** The wire's word; `finishReason()` gives one vocabulary for every endpoint. */
export type MessageStopReason = OpenWord<
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded'
  | 'compaction'
>;

/** Why the model refused. */
export interface MessageStopDetails {
  readonly type: 'refusal';
  readonly category?: string | null;
  readonly explanation?: string | null;
}

export interface MessageContainer {
  readonly id: string;
  readonly expires_at?: string;
  readonly skills?: readonly object[] | null;
}

export interface MessageContextManagement {
  readonly applied_edits?: readonly object[];
}

/** Token counts as they stand on the wire; `finalUsage()` gives one shape for every endpoint. */
export interface MessageUsage {
  /** Without cache reads and writes. */
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number;
    readonly ephemeral_1h_input_tokens?: number;
  } | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null;
  readonly server_tool_use?: {
    readonly web_search_requests?: number | null;
    readonly web_fetch_requests?: number | null;
  } | null;
  readonly service_tier?: string | null;
  readonly speed?: string | null;
  readonly inference_geo?: string | null;
  readonly iterations?: readonly object[] | null;
  readonly fallback_credit?: unknown;
  /** US dollars; gateways add it. */
  readonly cost?: number | string | null;
}

/** A block of a message's content; narrows on `type`. */
export type ContentBlock =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ServerToolUseBlock
  | WebSearchToolResultBlock
  | WebFetchToolResultBlock
  | CodeExecutionToolResultBlock
  | BashCodeExecutionToolResultBlock
  | TextEditorCodeExecutionToolResultBlock
  | ToolSearchToolResultBlock
  | AdvisorToolResultBlock
  | ContainerUploadBlock
  | McpToolUseBlock
  | McpToolResultBlock
  | McpToolListingBlock
  | CompactionBlock
  | FallbackBlock;

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: readonly TextCitation[] | null;
}

export interface ThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  readonly signature?: string;
}

export interface RedactedThinkingBlock {
  readonly type: 'redacted_thinking';
  readonly data: string;
}

/** A call of one of the client's tools. */
export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  /** `{}` in a start event is a placeholder. */
  readonly input: unknown;
  readonly caller?: object | null;
  readonly toolset_name?: string | null;
}

/** A call of a tool that the service runs itself. */
export interface ServerToolUseBlock {
  readonly type: 'server_tool_use';
  readonly id: string;
  readonly name: OpenWord<
    | 'web_search'
    | 'web_fetch'
    | 'code_execution'
    | 'bash_code_execution'
    | 'text_editor_code_execution'
    | 'tool_search_tool_regex'
    | 'tool_search_tool_bm25'
    | 'advisor'
  >;
  readonly input: unknown;
  readonly caller?: object | null;
}

/** What a tool that the service runs itself gave back; it comes whole. */
interface ServerToolResult {
  readonly tool_use_id: string;
  readonly content: unknown;
  readonly caller?: object | null;
}

export interface WebSearchToolResultBlock extends ServerToolResult {
  readonly type: 'web_search_tool_result';
  readonly content: readonly WebSearchResult[] | WebSearchToolError;
}

export interface WebSearchResult {
  readonly type: 'web_search_result';
  readonly url: string;
  readonly title?: string | null;
  readonly encrypted_content?: string;
  readonly page_age?: string | null;
}

export interface WebSearchToolError {
  readonly type: 'web_search_tool_result_error';
  readonly error_code: string;
}

export interface WebFetchToolResultBlock extends ServerToolResult {
  readonly type: 'web_fetch_tool_result';
}

export interface CodeExecutionToolResultBlock extends ServerToolResult {
  readonly type: 'code_execution_tool_result';
}

export interface BashCodeExecutionToolResultBlock extends ServerToolResult {
  readonly type: 'bash_code_execution_tool_result';
}

export interface TextEditorCodeExecutionToolResultBlock extends ServerToolResult {
  readonly type: 'text_editor_code_execution_tool_result';
}

export interface ToolSearchToolResultBlock extends ServerToolResult {
  readonly type: 'tool_search_tool_result';
}

export interface AdvisorToolResultBlock extends ServerToolResult {
  readonly type: 'advisor_tool_result';
}

export interface ContainerUploadBlock {
  readonly type: 'container_upload';
  readonly file_id: string;
}

export interface McpToolUseBlock {
  readonly type: 'mcp_tool_use';
  readonly id: string;
  readonly name: string;
  readonly server_name: string;
  readonly input: unknown;
}

export interface McpToolResultBlock {
  readonly type: 'mcp_tool_result';
  readonly tool_use_id: string;
  readonly is_error: boolean;
  readonly content: string | readonly TextBlock[];
}

export interface McpToolListingBlock {
  readonly type: 'mcp_tool_listing';
  readonly mcp_server_name: string;
  readonly tools: readonly object[];
}

export interface CompactionBlock {
  readonly type: 'compaction';
  readonly content: string | null;
  readonly encrypted_content?: string | null;
  readonly signature?: string | null;
  readonly tool_changes?: unknown;
}

/** From here on another model answers. */
export interface FallbackBlock {
  readonly type: 'fallback';
  readonly from: { readonly model: string };
  readonly to: { readonly model: string };
  readonly trigger?: unknown;
}

/** Where the words of a text block come from; narrows on `type`. */
export type TextCitation =
  | CharLocationCitation
  | PageLocationCitation
  | ContentBlockLocationCitation
  | WebSearchResultCitation
  | SearchResultCitation;

interface DocumentCitation {
  readonly cited_text: string;
  readonly document_index: number;
  readonly document_title?: string | null;
  readonly file_id?: string | null;
}

export interface CharLocationCitation extends DocumentCitation {
  readonly type: 'char_location';
  readonly start_char_index: number;
  readonly end_char_index: number;
}

export interface PageLocationCitation extends DocumentCitation {
  readonly type: 'page_location';
  readonly start_page_number: number;
  readonly end_page_number: number;
}

export interface ContentBlockLocationCitation extends DocumentCitation {
  readonly type: 'content_block_location';
  readonly start_block_index: number;
  readonly end_block_index: number;
}

export interface WebSearchResultCitation {
  readonly type: 'web_search_result_location';
  readonly cited_text: string;
  readonly url: string;
  readonly title?: string | null;
  readonly encrypted_index?: string;
}

export interface SearchResultCitation {
  readonly type: 'search_result_location';
  readonly cited_text: string;
  readonly source: string;
  readonly title?: string | null;
  readonly search_result_index: number;
  readonly start_block_index: number;
  readonly end_block_index: number;
}
