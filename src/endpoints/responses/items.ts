import type { EachType, OpenWord } from '../open.js';

/** An item of a response's output; narrows on `type`. */
export type ResponseOutputItem =
  | ResponseMessageItem
  | ResponseReasoningItem
  | ResponseFunctionCallItem
  | ResponseCustomToolCallItem
  | ResponseToolOutputItem
  | ResponseFileSearchCallItem
  | ResponseWebSearchCallItem
  | ResponseComputerCallItem
  | ResponseCodeInterpreterCallItem
  | ResponseImageGenerationCallItem
  | ResponseLocalShellCallItem
  | ResponseShellCallItem
  | ResponseApplyPatchCallItem
  | ResponseMcpCallItem
  | ResponseMcpListToolsItem
  | ResponseMcpApprovalRequestItem
  | ResponseMcpApprovalResponseItem
  | ResponseToolSearchCallItem
  | ResponseCompactionItem
  | ResponseOtherItem;

export type ResponseItemStatus = OpenWord<'in_progress' | 'completed' | 'incomplete' | 'failed'>;

interface ItemBase {
  readonly id?: string;
  readonly status?: ResponseItemStatus | null;
}

export interface ResponseMessageItem extends ItemBase {
  readonly type: 'message';
  readonly role?: OpenWord<'assistant'>;
  readonly content: readonly ResponseContentPart[];
  readonly phase?: OpenWord<'commentary' | 'final_answer'> | null;
}

export interface ResponseReasoningItem extends ItemBase {
  readonly type: 'reasoning';
  readonly summary?: readonly ResponseSummaryPart[] | null;
  /** The raw chain of thought, where the server shows it. */
  readonly content?: readonly ResponseReasoningTextPart[] | null;
  /** Opaque, and to be sent back as it is. Only the done item's value counts. */
  readonly encrypted_content?: string | null;
}

/** A call of one of the client's functions. `call_id`, not `id`, is what its output refers to. */
export interface ResponseFunctionCallItem extends ItemBase {
  readonly type: 'function_call';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly namespace?: string;
  readonly caller?: object | null;
}

/** A call of one of the client's free-text tools. */
export interface ResponseCustomToolCallItem extends ItemBase {
  readonly type: 'custom_tool_call';
  readonly call_id: string;
  readonly name: string;
  /** Free text, not JSON. */
  readonly input: string;
  readonly namespace?: string;
  readonly caller?: object | null;
}

/** What a tool gave back. */
export type ResponseToolOutputItem = EachType<
  | 'function_call_output'
  | 'custom_tool_call_output'
  | 'computer_call_output'
  | 'local_shell_call_output'
  | 'shell_call_output'
  | 'apply_patch_call_output'
  | 'multi_agent_call_output',
  ItemBase & {
    readonly call_id?: string;
    readonly output?: unknown;
  }
>;

export interface ResponseFileSearchCallItem extends ItemBase {
  readonly type: 'file_search_call';
  readonly queries?: readonly string[];
  readonly results?: readonly object[] | null;
}

export interface ResponseWebSearchCallItem extends ItemBase {
  readonly type: 'web_search_call';
  readonly action?: object | null;
}

export interface ResponseComputerCallItem extends ItemBase {
  readonly type: 'computer_call';
  readonly call_id: string;
  readonly action?: object | null;
  readonly actions?: readonly object[] | null;
  readonly pending_safety_checks?: readonly object[];
}

export interface ResponseCodeInterpreterCallItem extends ItemBase {
  readonly type: 'code_interpreter_call';
  readonly code?: string | null;
  readonly container_id?: string;
  readonly outputs?: readonly object[] | null;
}

export interface ResponseImageGenerationCallItem extends ItemBase {
  readonly type: 'image_generation_call';
  /** The image, in base64; only in the done item. */
  readonly result?: string | null;
  readonly revised_prompt?: string | null;
  readonly output_format?: string;
  readonly quality?: string;
  readonly size?: string;
  readonly background?: string;
}

export interface ResponseLocalShellCallItem extends ItemBase {
  readonly type: 'local_shell_call';
  readonly call_id: string;
  readonly action?: object | null;
}

export interface ResponseShellCallItem extends ItemBase {
  readonly type: 'shell_call';
  readonly call_id?: string;
  readonly action?: {
    readonly commands?: readonly string[];
    readonly max_output_length?: number | null;
    readonly timeout_ms?: number | null;
  } | null;
  readonly environment?: object | null;
}

export interface ResponseApplyPatchCallItem extends ItemBase {
  readonly type: 'apply_patch_call';
  readonly call_id: string;
  readonly operation?: object | null;
}

export interface ResponseMcpCallItem extends ItemBase {
  readonly type: 'mcp_call';
  readonly name: string;
  readonly server_label: string;
  readonly arguments: string;
  readonly output?: string | null;
  readonly error?: unknown;
  readonly approval_request_id?: string | null;
}

export interface ResponseMcpListToolsItem extends ItemBase {
  readonly type: 'mcp_list_tools';
  readonly server_label: string;
  readonly tools?: readonly object[];
  readonly error?: unknown;
}

export interface ResponseMcpApprovalRequestItem extends ItemBase {
  readonly type: 'mcp_approval_request';
  readonly name: string;
  readonly server_label: string;
  readonly arguments: string;
}

export interface ResponseMcpApprovalResponseItem extends ItemBase {
  readonly type: 'mcp_approval_response';
  readonly approval_request_id: string;
  readonly approve: boolean;
  readonly reason?: string | null;
}

export type ResponseToolSearchCallItem = EachType<
  'tool_search_call' | 'tool_search_output',
  ItemBase & {
    readonly call_id?: string | null;
    readonly arguments?: unknown;
    readonly tools?: readonly object[];
  }
>;

export interface ResponseCompactionItem extends ItemBase {
  readonly type: 'compaction';
  readonly encrypted_content?: string | null;
}

/** Items of which no more is known than that they exist. */
export type ResponseOtherItem = EachType<
  'additional_tools' | 'program' | 'program_output' | 'agent_message' | 'multi_agent_call',
  ItemBase
>;

/** A part of a message or of raw reasoning; narrows on `type`. */
export type ResponseContentPart = ResponseTextPart | ResponseRefusalPart | ResponseReasoningTextPart;

export interface ResponseTextPart {
  readonly type: 'output_text';
  readonly text: string;
  readonly annotations?: readonly ResponseAnnotation[] | null;
  readonly logprobs?: readonly ResponseLogprob[] | null;
}

export interface ResponseRefusalPart {
  readonly type: 'refusal';
  readonly refusal: string;
}

export interface ResponseReasoningTextPart {
  readonly type: 'reasoning_text';
  readonly text: string;
}

export interface ResponseSummaryPart {
  readonly type: 'summary_text';
  readonly text: string;
}

export interface ResponseLogprob {
  readonly token?: string;
  readonly logprob?: number;
  readonly bytes?: readonly number[];
  readonly top_logprobs?: readonly { readonly token?: string; readonly logprob?: number }[];
}

/** Where the words of a text part come from; narrows on `type`. */
export type ResponseAnnotation =
  ResponseUrlCitation | ResponseFileCitation | ResponseContainerFileCitation | ResponseFilePath;

export interface ResponseUrlCitation {
  readonly type: 'url_citation';
  readonly url: string;
  readonly title?: string | null;
  readonly start_index?: number | null;
  readonly end_index?: number | null;
}

export interface ResponseFileCitation {
  readonly type: 'file_citation';
  readonly file_id: string;
  readonly filename?: string | null;
  readonly index?: number | null;
}

export interface ResponseContainerFileCitation {
  readonly type: 'container_file_citation';
  readonly container_id: string;
  readonly file_id: string;
  readonly filename?: string | null;
  readonly start_index?: number | null;
  readonly end_index?: number | null;
}

export interface ResponseFilePath {
  readonly type: 'file_path';
  readonly file_id: string;
  readonly index?: number | null;
}
