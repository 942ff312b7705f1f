import type { WithExtras } from '../open.js';
import type {
  ResponseAnnotation,
  ResponseContentPart,
  ResponseLogprob,
  ResponseOutputItem,
  ResponseSummaryPart,
} from './items.js';
import type { ResponseErrorBody, ResponseObject } from './response.js';

/** What `/responses` takes. `stream: true` is set by the library. */
export interface ResponseParams {
  readonly model?: string;
  readonly input?: string | readonly object[];
  readonly instructions?: string | null;
  readonly stream?: boolean | null;
  readonly stream_options?: { readonly include_obfuscation?: boolean } | null;
  readonly max_output_tokens?: number | null;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly tools?: readonly object[];
  readonly tool_choice?: string | object;
  readonly parallel_tool_calls?: boolean | null;
  readonly reasoning?: object | null;
  readonly text?: object;
  readonly include?: readonly string[] | null;
  readonly previous_response_id?: string | null;
  readonly conversation?: string | object | null;
  readonly metadata?: Readonly<Record<string, string>> | null;
  readonly background?: boolean | null;
  readonly store?: boolean | null;
  readonly service_tier?: string | null;
  readonly truncation?: string | null;
  readonly user?: string;
}

/** What `/responses` takes, a gateway's own fields included. */
export type ResponseRequest = WithExtras<ResponseParams>;

/** One event of a streamed response; narrows on `type`. */
export type ResponseStreamEvent =
  | ResponseLifecycleEvent
  | ResponseOutputItemEvent
  | ResponseContentPartEvent
  | ResponseTextDeltaEvent
  | ResponseTextDoneEvent
  | ResponseAnnotationAddedEvent
  | ResponseRefusalDeltaEvent
  | ResponseRefusalDoneEvent
  | ResponseReasoningTextDeltaEvent
  | ResponseReasoningTextDoneEvent
  | ResponseReasoningDeltaEvent
  | ResponseReasoningDoneEvent
  | ResponseReasoningPartEvent
  | ResponseSummaryPartEvent
  | ResponseSummaryTextDeltaEvent
  | ResponseSummaryTextDoneEvent
  | ResponseSummaryDeltaEvent
  | ResponseSummaryDoneEvent
  | ResponseArgumentsDeltaEvent
  | ResponseArgumentsDoneEvent
  | ResponseCustomInputDeltaEvent
  | ResponseCustomInputDoneEvent
  | ResponseCodeDeltaEvent
  | ResponseCodeDoneEvent
  | ResponseToolStatusEvent
  | ResponsePartialImageEvent
  | ResponseShellCommandEvent
  | ResponseShellCommandDeltaEvent
  | ResponseShellOutputDeltaEvent
  | ResponseShellOutputDoneEvent
  | ResponsePatchDeltaEvent
  | ResponsePatchDoneEvent
  | ResponseAudioDeltaEvent
  | ResponseAudioDoneEvent
  | ResponseAudioTranscriptDeltaEvent
  | ResponseAudioTranscriptDoneEvent
  | ResponseFusionEvent
  | ResponseDebugEvent
  | ResponseKeepaliveEvent
  | ResponseErrorEvent;

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

/** The response as a whole: its beginning, its state, its end. */
export interface ResponseLifecycleEvent extends Sequenced {
  readonly type:
    | 'response.created'
    | 'response.queued'
    | 'response.in_progress'
    | 'response.completed'
    | 'response.incomplete'
    | 'response.failed'
    | 'response.done';
  readonly response: ResponseObject;
}

/** `added` opens an item; `done` closes it and holds its full value. */
export interface ResponseOutputItemEvent extends OfItem {
  readonly type: 'response.output_item.added' | 'response.output_item.done';
  readonly item: ResponseOutputItem | null;
}

export interface ResponseContentPartEvent extends OfPart {
  readonly type: 'response.content_part.added' | 'response.content_part.done';
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
export interface ResponseReasoningTextDeltaEvent extends OfPart, Piece {
  readonly type: 'response.reasoning_text.delta' | 'response.reasoning_content.delta';
}

export interface ResponseReasoningTextDoneEvent extends OfPart {
  readonly type: 'response.reasoning_text.done' | 'response.reasoning_content.done';
  readonly text: string;
}

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

export interface ResponseReasoningPartEvent extends OfPart {
  readonly type: 'response.reasoning_part.added' | 'response.reasoning_part.done';
  readonly part: ResponseContentPart;
}

export interface ResponseSummaryPartEvent extends OfSummary {
  readonly type: 'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done';
  readonly part: ResponseSummaryPart;
  readonly status?: string | null;
}

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

export interface ResponseArgumentsDeltaEvent extends OfItem, Piece {
  readonly type: 'response.function_call_arguments.delta' | 'response.mcp_call_arguments.delta';
}

export interface ResponseArgumentsDoneEvent extends OfItem {
  readonly type: 'response.function_call_arguments.done' | 'response.mcp_call_arguments.done';
  readonly arguments: string;
  readonly name?: string;
}

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
export interface ResponseToolStatusEvent extends OfItem {
  readonly type:
    | `response.code_interpreter_call.${'in_progress' | 'interpreting' | 'completed'}`
    | `response.file_search_call.${'in_progress' | 'searching' | 'completed'}`
    | `response.web_search_call.${'in_progress' | 'searching' | 'completed'}`
    | `response.image_generation_call.${'in_progress' | 'generating' | 'completed'}`
    | `response.mcp_call.${'in_progress' | 'completed' | 'failed'}`
    | `response.mcp_list_tools.${'in_progress' | 'completed' | 'failed'}`
    | 'response.compaction.compacting';
}

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
export interface ResponseShellCommandEvent extends OfItem {
  readonly type: 'response.shell_call_command.added' | 'response.shell_call_command.done';
  readonly command: string;
  readonly command_index: number;
}

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
export interface ResponseAudioDeltaEvent extends OfPart, Piece {
  readonly type: 'response.audio.delta' | 'response.output_audio.delta';
}

export interface ResponseAudioDoneEvent extends OfPart {
  readonly type: 'response.audio.done' | 'response.output_audio.done';
}

/** The words of the sound; not the response's text. */
export interface ResponseAudioTranscriptDeltaEvent extends OfPart, Piece {
  readonly type: 'response.audio.transcript.delta' | 'response.output_audio_transcript.delta';
}

export interface ResponseAudioTranscriptDoneEvent extends OfPart {
  readonly type: 'response.audio.transcript.done' | 'response.output_audio_transcript.done';
  readonly transcript?: string;
}

/** A panel of models at work (OpenRouter). */
export interface ResponseFusionEvent extends OfItem {
  readonly type: `response.fusion_call.${
    | 'in_progress'
    | 'completed'
    | 'panel.added'
    | 'panel.delta'
    | 'panel.completed'
    | 'panel.failed'
    | 'panel.reasoning.delta'
    | 'analysis.in_progress'
    | 'analysis.completed'}`;
  readonly delta?: string;
}

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
