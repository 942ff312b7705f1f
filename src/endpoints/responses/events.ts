import type { EachType } from '../open.js';
import type {
  ResponseAnnotation,
  ResponseContentPart,
  ResponseLogprob,
  ResponseOutputItem,
  ResponseSummaryPart,
} from './items.js';
import type { ResponseErrorBody, ResponseObject } from './response.js';

interface Sequenced {
  /** Strictly increasing, from 0; gaps are possible, and some proxies leave it out. */
  readonly sequence_number?: number;
  readonly agent?: { readonly agent_name?: string } | null;
  readonly stream_id?: string;
}

/** Belongs to an item of the output. */
interface OfItem extends Sequenced {
  readonly output_index?: number;
  readonly item_id?: string;
}

/** Belongs to a part of an item's content. */
interface OfPart extends OfItem {
  readonly content_index?: number;
}

/** Belongs to a part of an item's reasoning summary. */
interface OfSummary extends OfItem {
  readonly summary_index?: number;
}

/** A piece of something that grows. */
interface Piece {
  readonly delta: string;
  /** Random padding. */
  readonly obfuscation?: string;
}

interface Lifecycle extends Sequenced {
  readonly response: ResponseObject;
}

/** Opens the stream. */
export interface ResponseCreatedEvent extends Lifecycle {
  readonly type: 'response.created';
}

export interface ResponseQueuedEvent extends Lifecycle {
  readonly type: 'response.queued';
}

export interface ResponseInProgressEvent extends Lifecycle {
  readonly type: 'response.in_progress';
}

/** The end: `response` is the whole answer. */
export interface ResponseCompletedEvent extends Lifecycle {
  readonly type: 'response.completed';
}

/** The end: the answer was cut; `response.incomplete_details` says why. */
export interface ResponseIncompleteEvent extends Lifecycle {
  readonly type: 'response.incomplete';
}

/** The end: `response.error` says why. The client emits it, then raises the error. */
export interface ResponseFailedEvent extends Lifecycle {
  readonly type: 'response.failed';
}

/** Another name of the end, on some gateways. */
export interface ResponseDoneEvent extends Lifecycle {
  readonly type: 'response.done';
}

/** Opens an item. */
export interface ResponseOutputItemAddedEvent extends OfItem {
  readonly type: 'response.output_item.added';
  readonly item: ResponseOutputItem | null;
}

/** Closes an item, and holds its full value. */
export interface ResponseOutputItemDoneEvent extends OfItem {
  readonly type: 'response.output_item.done';
  readonly item: ResponseOutputItem | null;
}

/** Opens a part of a message, or of raw reasoning. */
export interface ResponseContentPartAddedEvent extends OfPart {
  readonly type: 'response.content_part.added';
  readonly part: ResponseContentPart;
}

/** Closes a part, and holds its full value. */
export interface ResponseContentPartDoneEvent extends OfPart {
  readonly type: 'response.content_part.done';
  readonly part: ResponseContentPart;
}

export interface ResponseTextDeltaEvent extends OfPart, Piece {
  readonly type: 'response.output_text.delta';
  readonly logprobs?: readonly ResponseLogprob[] | null;
}

export interface ResponseTextDoneEvent extends OfPart {
  readonly type: 'response.output_text.done';
  readonly text: string;
  readonly logprobs?: readonly ResponseLogprob[] | null;
}

export interface ResponseAnnotationAddedEvent extends OfPart {
  readonly type: 'response.output_text.annotation.added';
  readonly annotation: ResponseAnnotation | null;
  readonly annotation_index?: number;
}

export interface ResponseRefusalDeltaEvent extends OfPart, Piece {
  readonly type: 'response.refusal.delta';
}

export interface ResponseRefusalDoneEvent extends OfPart {
  readonly type: 'response.refusal.done';
  readonly refusal: string;
}

/** The raw chain of thought. */
export type ResponseReasoningTextDeltaEvent = EachType<
  'response.reasoning_text.delta' | 'response.reasoning_content.delta',
  OfPart & Piece
>;

export type ResponseReasoningTextDoneEvent = EachType<
  'response.reasoning_text.done' | 'response.reasoning_content.done',
  OfPart & {
    readonly text: string;
  }
>;

/** A gateway's own reasoning channel. */
export interface ResponseReasoningDeltaEvent extends OfPart {
  readonly type: 'response.reasoning.delta';
  readonly delta?: string | { readonly text?: string | null } | null;
  readonly summary?: unknown;
  readonly obfuscation?: string;
}

export interface ResponseReasoningDoneEvent extends OfPart {
  readonly type: 'response.reasoning.done';
  readonly text?: string | null;
}

export type ResponseReasoningPartEvent = EachType<
  'response.reasoning_part.added' | 'response.reasoning_part.done',
  OfPart & {
    readonly part: ResponseContentPart;
  }
>;

export type ResponseSummaryPartEvent = EachType<
  'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done',
  OfSummary & {
    readonly part: ResponseSummaryPart;
    readonly status?: string | null;
  }
>;

export interface ResponseSummaryTextDeltaEvent extends OfSummary, Piece {
  readonly type: 'response.reasoning_summary_text.delta';
}

export interface ResponseSummaryTextDoneEvent extends OfSummary {
  readonly type: 'response.reasoning_summary_text.done';
  readonly text: string;
}

/** The older names of the summary's text. */
export interface ResponseSummaryDeltaEvent extends OfSummary {
  readonly type: 'response.reasoning_summary.delta';
  readonly delta?: string | { readonly text?: string | null } | null;
  readonly obfuscation?: string;
}

export interface ResponseSummaryDoneEvent extends OfSummary {
  readonly type: 'response.reasoning_summary.done';
  readonly text?: string | null;
}

export type ResponseArgumentsDeltaEvent = EachType<
  'response.function_call_arguments.delta' | 'response.mcp_call_arguments.delta',
  OfItem & Piece
>;

export type ResponseArgumentsDoneEvent = EachType<
  'response.function_call_arguments.done' | 'response.mcp_call_arguments.done',
  OfItem & {
    readonly arguments: string;
    readonly name?: string;
  }
>;

export interface ResponseCustomInputDeltaEvent extends OfItem, Piece {
  readonly type: 'response.custom_tool_call_input.delta';
}

export interface ResponseCustomInputDoneEvent extends OfItem {
  readonly type: 'response.custom_tool_call_input.done';
  readonly input: string;
}

export interface ResponseCodeDeltaEvent extends OfItem, Piece {
  readonly type: 'response.code_interpreter_call_code.delta';
}

export interface ResponseCodeDoneEvent extends OfItem {
  readonly type: 'response.code_interpreter_call_code.done';
  readonly code: string;
}

/** How far a tool that the service runs itself has come. */
export type ResponseToolStatusEvent = EachType<
  | `response.code_interpreter_call.${'in_progress' | 'interpreting' | 'completed'}`
  | `response.file_search_call.${'in_progress' | 'searching' | 'completed'}`
  | `response.web_search_call.${'in_progress' | 'searching' | 'completed'}`
  | `response.image_generation_call.${'in_progress' | 'generating' | 'completed'}`
  | `response.mcp_call.${'in_progress' | 'completed' | 'failed'}`
  | `response.mcp_list_tools.${'in_progress' | 'completed' | 'failed'}`
  | 'response.compaction.compacting',
  OfItem
>;

export interface ResponsePartialImageEvent extends OfItem {
  readonly type: 'response.image_generation_call.partial_image';
  readonly partial_image_b64: string;
  /** Counts from 0. */
  readonly partial_image_index: number;
  readonly background?: string;
  readonly output_format?: string;
  readonly quality?: string;
  readonly size?: string;
}

/** Shell commands are found by `output_index` and `command_index`; they have no `item_id`. */
export type ResponseShellCommandEvent = EachType<
  'response.shell_call_command.added' | 'response.shell_call_command.done',
  OfItem & {
    readonly command: string;
    readonly command_index: number;
  }
>;

export interface ResponseShellCommandDeltaEvent extends OfItem, Piece {
  readonly type: 'response.shell_call_command.delta';
  readonly command_index: number;
}

export interface ResponseShellOutputDeltaEvent extends OfItem {
  readonly type: 'response.shell_call_output_content.delta';
  readonly command_index: number;
  readonly delta: { readonly stdout?: string | null; readonly stderr?: string | null };
}

export interface ResponseShellOutputDoneEvent extends OfItem {
  readonly type: 'response.shell_call_output_content.done';
  readonly command_index: number;
  readonly output: readonly object[];
}

export interface ResponsePatchDeltaEvent extends OfItem, Piece {
  readonly type: 'response.apply_patch_call_operation_diff.delta';
}

export interface ResponsePatchDoneEvent extends OfItem {
  readonly type: 'response.apply_patch_call_operation_diff.done';
  readonly diff?: string;
}

/** Sound, in base64. */
export type ResponseAudioDeltaEvent = EachType<'response.audio.delta' | 'response.output_audio.delta', OfPart & Piece>;

export type ResponseAudioDoneEvent = EachType<'response.audio.done' | 'response.output_audio.done', OfPart>;

/** The words of the sound; not the response's text. */
export type ResponseAudioTranscriptDeltaEvent = EachType<
  'response.audio.transcript.delta' | 'response.output_audio_transcript.delta',
  OfPart & Piece
>;

export type ResponseAudioTranscriptDoneEvent = EachType<
  'response.audio.transcript.done' | 'response.output_audio_transcript.done',
  OfPart & {
    readonly transcript?: string;
  }
>;

/** A panel of models at work (OpenRouter). */
export type ResponseFusionEvent = EachType<
  `response.fusion_call.${
    | 'in_progress'
    | 'completed'
    | 'panel.added'
    | 'panel.delta'
    | 'panel.completed'
    | 'panel.failed'
    | 'panel.reasoning.delta'
    | 'analysis.in_progress'
    | 'analysis.completed'}`,
  OfItem & {
    readonly delta?: string;
  }
>;

export interface ResponseDebugEvent extends Sequenced {
  readonly type: 'response.debug';
  readonly debug?: unknown;
}

export interface ResponseKeepaliveEvent extends Sequenced {
  readonly type: 'keepalive';
}

/** A failure, flat or nested, or both. The client raises it as an error. */
export interface ResponseErrorEvent extends Sequenced {
  readonly type: 'error';
  readonly code?: string | number | null;
  readonly message?: string | null;
  readonly param?: string | null;
  readonly error?: ResponseErrorBody | null;
}
