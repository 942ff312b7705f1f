// The public surface: named exports, nothing else.

// The client
export { createLlmClient } from './create-llm-client.js';
export { LlmClient, type HeaderValues, type LlmClientOptions, type RequestOptions } from './client.js';
export type { ResponseHead } from './stream.js';
export type { StreamTimeouts } from './timeouts.js';
export { fetchTransport, type FetchTransportOptions } from './transport/fetch.js';
export type { Transport, TransportRequest, TransportResponse } from './transport/transport.js';

// Errors
export {
  ConnectionError,
  EventTooLargeError,
  HttpResponseError,
  LlmStreamError,
  MalformedEventError,
  StreamEventError,
  StreamTimeoutError,
  TruncatedStreamError,
  isLlmStreamError,
  type LlmErrorDetails,
  type LlmErrorKind,
  type TimeoutPhase,
} from './errors.js';

// Reading events
export { isToken } from './is-token.js';
export { parseServerSentEvents, type ParseServerSentEventsConfig } from './operators/parse-server-sent-events.js';

// Events, requests and results of the wire
export type {
  ChatLike,
  EndpointName,
  EventsOf,
  ImagesLike,
  MessagesLike,
  RequestsOf,
  ResponsesLike,
} from './events.js';
export { asUnknownEvent, isKnownEvent, type KnownEvent, type UnknownEvent } from './known-events.js';
export type { EachType, OpenWord, WithExtras } from './endpoints/open.js';
export type {
  ChatChunkChoice,
  ChatCompletionChunk,
  ChatCompletionParams,
  ChatCompletionRequest,
  ChatDelta,
  ChatErrorBody,
  ChatGroqExtension,
  ChatStreamOptions,
} from './endpoints/chat-completions/wire.js';
export type {
  ChatCompletion,
  ChatCompletionChoice,
  ChatCompletionMessage,
  ChatMessageCustomCall,
  ChatMessageFunctionCall,
  ChatMessageToolCall,
} from './endpoints/chat-completions/completion.js';
export type {
  ChatAnnotation,
  ChatAudio,
  ChatCompletionTokensDetails,
  ChatContentPart,
  ChatDocumentCitation,
  ChatFileAnnotation,
  ChatFinishReason,
  ChatFunctionCallDelta,
  ChatFunctionCitation,
  ChatImage,
  ChatLogprobs,
  ChatPromptTokensDetails,
  ChatReasoningDetail,
  ChatReasoningEncryptedDetail,
  ChatReasoningServerToolDetail,
  ChatReasoningSummaryDetail,
  ChatReasoningTextDetail,
  ChatReferencePart,
  ChatRouting,
  ChatTextPart,
  ChatThinkingPart,
  ChatTokenLogprob,
  ChatToolCallDelta,
  ChatUrlCitation,
  ChatUsage,
} from './endpoints/chat-completions/items.js';
export type { ChatMessage, ChatMessagePart, ChatTool, ChatToolChoice } from './endpoints/chat-completions/request.js';
export type { ResponseParams, ResponseRequest, ResponseStreamEvent } from './endpoints/responses/wire.js';
export type {
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
} from './endpoints/responses/events.js';
export type {
  ResponseErrorBody,
  ResponseIncompleteReason,
  ResponseObject,
  ResponseRouting,
  ResponseStatus,
  ResponseUsage,
} from './endpoints/responses/response.js';
export type {
  ResponseAnnotation,
  ResponseApplyPatchCallItem,
  ResponseCodeInterpreterCallItem,
  ResponseCompactionItem,
  ResponseComputerCallItem,
  ResponseContainerFileCitation,
  ResponseContentPart,
  ResponseCustomToolCallItem,
  ResponseFileCitation,
  ResponseFilePath,
  ResponseFileSearchCallItem,
  ResponseFunctionCallItem,
  ResponseImageGenerationCallItem,
  ResponseItemStatus,
  ResponseLocalShellCallItem,
  ResponseLogprob,
  ResponseMcpApprovalRequestItem,
  ResponseMcpApprovalResponseItem,
  ResponseMcpCallItem,
  ResponseMcpListToolsItem,
  ResponseMessageItem,
  ResponseOtherItem,
  ResponseOutputItem,
  ResponseReasoningItem,
  ResponseReasoningTextPart,
  ResponseRefusalPart,
  ResponseShellCallItem,
  ResponseSummaryPart,
  ResponseTextPart,
  ResponseToolOutputItem,
  ResponseToolSearchCallItem,
  ResponseUrlCitation,
  ResponseWebSearchCallItem,
} from './endpoints/responses/items.js';
export type {
  CitationsDelta,
  CompactionDelta,
  ContentBlockDelta,
  ContentBlockDeltaEvent,
  ContentBlockStartEvent,
  ContentBlockStopEvent,
  InputJsonDelta,
  MessageDeltaEvent,
  MessageErrorBody,
  MessageErrorEvent,
  MessageParams,
  MessagePingEvent,
  MessageRequest,
  MessageStartEvent,
  MessageStopEvent,
  MessageStreamEvent,
  MessageTurn,
  MessageTurnBlock,
  SignatureDelta,
  TextDelta,
  ThinkingDelta,
} from './endpoints/messages/wire.js';
export type {
  AdvisorToolResultBlock,
  BashCodeExecutionToolResultBlock,
  CharLocationCitation,
  CodeExecutionToolResultBlock,
  CompactionBlock,
  ContainerUploadBlock,
  ContentBlock,
  ContentBlockLocationCitation,
  FallbackBlock,
  McpToolListingBlock,
  McpToolResultBlock,
  McpToolUseBlock,
  MessageContainer,
  MessageContextManagement,
  MessageObject,
  MessageStopDetails,
  MessageStopReason,
  MessageUsage,
  PageLocationCitation,
  RedactedThinkingBlock,
  SearchResultCitation,
  ServerToolUseBlock,
  TextBlock,
  TextCitation,
  TextEditorCodeExecutionToolResultBlock,
  ThinkingBlock,
  ToolSearchToolResultBlock,
  ToolUseBlock,
  WebFetchToolResultBlock,
  WebSearchResult,
  WebSearchResultCitation,
  WebSearchToolError,
  WebSearchToolResultBlock,
} from './endpoints/messages/items.js';
export type {
  ImageAttributes,
  ImageCompletedEvent,
  ImageErrorBody,
  ImageErrorEvent,
  ImageParams,
  ImagePartialEvent,
  ImageRequest,
  ImageResult,
  ImageStreamEvent,
  ImageTextChunkEvent,
  ImageUsage,
  ImagesResult,
} from './endpoints/images/wire.js';
// Before the first token, and clocks
export { retryBeforeFirstToken } from './operators/retry-before-first-token.js';
export type { RetryBeforeFirstTokenConfig, RetryInfo, RetryPhase } from './operators/retry-before-first-token.js';
export { fallbackBeforeFirstToken } from './operators/fallback-before-first-token.js';
export type { Fallback, FallbackValue } from './operators/fallback-before-first-token.js';
export { streamTimeout } from './operators/stream-timeout.js';
export type { StreamTimeoutConfig } from './operators/stream-timeout.js';
// Bridges: server-sent events out, vendor SDKs in
export { fromAsyncStream, type AsyncStream, type AsyncStreamFactory } from './from-async-stream.js';
export { streamState, type StreamState, type StreamStateConfig } from './operators/stream-state.js';
export { toServerSentEvents, type ServerSentEventsConfig } from './operators/to-server-sent-events.js';
export { encodeServerSentEvent } from './sse/encode.js';
export { pipeServerSentEvents, type PipeServerSentEventsOptions, type ServerResponseLike } from './sse/pipe.js';
export type { ServerSentEvent } from './sse/server-sent-event.js';
export { untilStarted } from './until-started.js';
// Reading what a stream holds
export { accumulateMessage, type AccumulatedMessage } from './operators/accumulate-message.js';
export { accumulateText } from './operators/accumulate-text.js';
export { annotations } from './operators/annotations.js';
export { finalImages } from './operators/final-images.js';
export { finalReceipt } from './operators/final-receipt.js';
export { finalUsage } from './operators/final-usage.js';
export { finishReason } from './operators/finish-reason.js';
export { accumulateToolCalls, type AccumulateToolCallsConfig } from './operators/accumulate-tool-calls.js';
export { partialImages } from './operators/partial-images.js';
export { reasoningDeltas } from './operators/reasoning-deltas.js';
export { refusalDeltas } from './operators/refusal-deltas.js';
export { textDeltas } from './operators/text-deltas.js';
export { toolCalls } from './operators/tool-calls.js';
export type { ChoiceConfig } from './operators/choice.js';
export type { OnErrorConfig } from './operators/final.js';
export type { Annotation } from './annotation.js';
export type { FinishReason } from './finish-reason.js';
export type { Receipt } from './receipt.js';
export type { ToolCall } from './tool-call.js';
export type { StreamedImage } from './streamed-image.js';
export type { Usage } from './usage.js';
