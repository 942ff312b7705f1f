export { errorWith, type AsymmetricMatcher } from './error-with.js';
export { expectMarbles, MarbleMismatch, type MarbleValues } from './expect-marbles.js';
export { marbles, type MarbleHelpers } from './marbles.js';
export { chat, type ChatChunkFields, type ChatToolCallFields, type ChatTurnOptions } from './chat.js';
export { responses, type ResponsePlace, type ResponseToolCallFields, type ResponseTurnOptions } from './responses.js';
export { messages, type MessagePlace, type MessageTurnOptions } from './messages.js';
export { images, type ImageTurnOptions } from './images.js';
export { letters, type TurnParts, type TurnText, type TurnToolCall } from './turn.js';
export {
  fakeLlmClient,
  type FakeAnswer,
  type FakeAnswerFunction,
  type FakeAnswers,
  type FakeLlmClient,
  type FakeRequest,
  type FakeRequestOf,
} from './fake-client.js';
export { splitBytes, sse, type Split, type WireEvent } from './sse.js';
export {
  wireTransport,
  type ColdHelpers,
  type WireAnswer,
  type WireChunk,
  type WireRequest,
  type WireTransport,
} from './wire-transport.js';
export type { SubscriptionLog } from './subscription-log.js';
