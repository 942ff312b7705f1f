import type { WithExtras } from '../open.js';
import type {
  ResponseAnnotationAddedEvent,
  ResponseArgumentsDeltaEvent,
  ResponseArgumentsDoneEvent,
  ResponseAudioDeltaEvent,
  ResponseAudioDoneEvent,
  ResponseAudioTranscriptDeltaEvent,
  ResponseAudioTranscriptDoneEvent,
  ResponseCodeDeltaEvent,
  ResponseCodeDoneEvent,
  ResponseCompletedEvent,
  ResponseContentPartAddedEvent,
  ResponseContentPartDoneEvent,
  ResponseCreatedEvent,
  ResponseCustomInputDeltaEvent,
  ResponseCustomInputDoneEvent,
  ResponseDebugEvent,
  ResponseDoneEvent,
  ResponseErrorEvent,
  ResponseFailedEvent,
  ResponseFusionEvent,
  ResponseInProgressEvent,
  ResponseIncompleteEvent,
  ResponseKeepaliveEvent,
  ResponseOutputItemAddedEvent,
  ResponseOutputItemDoneEvent,
  ResponsePartialImageEvent,
  ResponsePatchDeltaEvent,
  ResponsePatchDoneEvent,
  ResponseQueuedEvent,
  ResponseReasoningDeltaEvent,
  ResponseReasoningDoneEvent,
  ResponseReasoningPartEvent,
  ResponseReasoningTextDeltaEvent,
  ResponseReasoningTextDoneEvent,
  ResponseRefusalDeltaEvent,
  ResponseRefusalDoneEvent,
  ResponseShellCommandDeltaEvent,
  ResponseShellCommandEvent,
  ResponseShellOutputDeltaEvent,
  ResponseShellOutputDoneEvent,
  ResponseSummaryDeltaEvent,
  ResponseSummaryDoneEvent,
  ResponseSummaryPartEvent,
  ResponseSummaryTextDeltaEvent,
  ResponseSummaryTextDoneEvent,
  ResponseTextDeltaEvent,
  ResponseTextDoneEvent,
  ResponseToolStatusEvent,
} from './events.js';

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
  | ResponseCreatedEvent
  | ResponseQueuedEvent
  | ResponseInProgressEvent
  | ResponseCompletedEvent
  | ResponseIncompleteEvent
  | ResponseFailedEvent
  | ResponseDoneEvent
  | ResponseOutputItemAddedEvent
  | ResponseOutputItemDoneEvent
  | ResponseContentPartAddedEvent
  | ResponseContentPartDoneEvent
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
