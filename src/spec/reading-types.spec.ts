import type { MessageStreamEvent as AnthropicEvent } from '@anthropic-ai/sdk/resources/messages';
import { expectTypeOf } from 'expect-type';
import type { ChatCompletionChunk as OpenAiChunk } from 'openai/resources/chat/completions';
import type { ImageEditStreamEvent, ImageGenStreamEvent } from 'openai/resources/images';
import type { ResponseStreamEvent as OpenAiResponseEvent } from 'openai/resources/responses/responses';
import { NEVER, type Observable } from 'rxjs';
import {
  accumulateText,
  annotations,
  finalImages,
  finalReceipt,
  finalUsage,
  finishReason,
  partialImages,
  reasoningDeltas,
  refusalDeltas,
  textDeltas,
  type Annotation,
  type ChatCompletionChunk,
  type FinishReason,
  type ImageStreamEvent,
  type MessageStreamEvent,
  type Receipt,
  type ResponseStreamEvent,
  type StreamedImage,
  type Usage,
} from 'rx-llm';

const chat: Observable<ChatCompletionChunk> = NEVER;
const responses: Observable<ResponseStreamEvent> = NEVER;
const messages: Observable<MessageStreamEvent> = NEVER;
const images: Observable<ImageStreamEvent> = NEVER;
const openAiChat: Observable<OpenAiChunk> = NEVER;
const openAiResponses: Observable<OpenAiResponseEvent> = NEVER;
const openAiImages: Observable<ImageGenStreamEvent | ImageEditStreamEvent> = NEVER;
const anthropic: Observable<AnthropicEvent> = NEVER;
const text: Observable<string> = NEVER;

// Nothing runs here but the compiler: `npm run typecheck` fails where a line below is not as it says.
describe('the types of operators that read', () => {
  it('take chat, Responses and Messages for text, reasoning, citations and finish reasons', () => {
    expectTypeOf(chat.pipe(textDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(responses.pipe(textDeltas({ choice: 0 }))).toEqualTypeOf<Observable<string>>();
    expectTypeOf(messages.pipe(textDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(chat.pipe(accumulateText())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(responses.pipe(accumulateText())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(messages.pipe(accumulateText())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(chat.pipe(reasoningDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(responses.pipe(reasoningDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(messages.pipe(reasoningDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(chat.pipe(annotations())).toEqualTypeOf<Observable<Annotation>>();
    expectTypeOf(responses.pipe(annotations())).toEqualTypeOf<Observable<Annotation>>();
    expectTypeOf(messages.pipe(annotations())).toEqualTypeOf<Observable<Annotation>>();
    expectTypeOf(chat.pipe(finishReason())).toEqualTypeOf<Observable<FinishReason>>();
    expectTypeOf(responses.pipe(finishReason())).toEqualTypeOf<Observable<FinishReason>>();
    expectTypeOf(messages.pipe(finishReason())).toEqualTypeOf<Observable<FinishReason>>();
  });

  it('take chat and Responses for refusals', () => {
    expectTypeOf(chat.pipe(refusalDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(responses.pipe(refusalDeltas())).toEqualTypeOf<Observable<string>>();
  });

  it('take every endpoint for usage and receipts', () => {
    expectTypeOf(chat.pipe(finalUsage())).toEqualTypeOf<Observable<Usage>>();
    expectTypeOf(responses.pipe(finalUsage({ onError: 'emit' }))).toEqualTypeOf<Observable<Usage>>();
    expectTypeOf(messages.pipe(finalUsage())).toEqualTypeOf<Observable<Usage>>();
    expectTypeOf(images.pipe(finalUsage())).toEqualTypeOf<Observable<Usage>>();
    expectTypeOf(chat.pipe(finalReceipt())).toEqualTypeOf<Observable<Receipt>>();
    expectTypeOf(responses.pipe(finalReceipt())).toEqualTypeOf<Observable<Receipt>>();
    expectTypeOf(messages.pipe(finalReceipt())).toEqualTypeOf<Observable<Receipt>>();
    expectTypeOf(images.pipe(finalReceipt())).toEqualTypeOf<Observable<Receipt>>();
  });

  it('take images and Responses for images, chat for final ones', () => {
    expectTypeOf(images.pipe(partialImages())).toEqualTypeOf<Observable<StreamedImage>>();
    expectTypeOf(responses.pipe(partialImages())).toEqualTypeOf<Observable<StreamedImage>>();
    expectTypeOf(images.pipe(finalImages())).toEqualTypeOf<Observable<StreamedImage>>();
    expectTypeOf(responses.pipe(finalImages())).toEqualTypeOf<Observable<StreamedImage>>();
    expectTypeOf(chat.pipe(finalImages())).toEqualTypeOf<Observable<StreamedImage>>();
  });

  it("take the events of the vendors' SDKs", () => {
    expectTypeOf(openAiChat.pipe(textDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(openAiResponses.pipe(textDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(anthropic.pipe(textDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(openAiChat.pipe(finalUsage())).toEqualTypeOf<Observable<Usage>>();
    expectTypeOf(openAiResponses.pipe(finalReceipt())).toEqualTypeOf<Observable<Receipt>>();
    expectTypeOf(anthropic.pipe(finishReason())).toEqualTypeOf<Observable<FinishReason>>();
    expectTypeOf(openAiImages.pipe(partialImages())).toEqualTypeOf<Observable<StreamedImage>>();
    expectTypeOf(openAiImages.pipe(finalImages())).toEqualTypeOf<Observable<StreamedImage>>();
  });

  it('refuse what cannot carry what they read', () => {
    // @ts-expect-error images hold no text
    images.pipe(textDeltas());
    // @ts-expect-error images hold no text, in no vendor's words
    openAiImages.pipe(textDeltas());
    // @ts-expect-error images hold no text
    images.pipe(accumulateText());
    // @ts-expect-error images hold no reasoning
    images.pipe(reasoningDeltas());
    // @ts-expect-error images hold no citations
    images.pipe(annotations());
    // @ts-expect-error an image has no finish reason
    images.pipe(finishReason());
    // @ts-expect-error Messages has no words for a refusal
    messages.pipe(refusalDeltas());
    // @ts-expect-error images hold no refusals
    images.pipe(refusalDeltas());
    // @ts-expect-error Messages makes no images
    messages.pipe(finalImages());
    // @ts-expect-error Messages makes no images, not even rough ones
    messages.pipe(partialImages());
    // @ts-expect-error chat has no rough versions
    chat.pipe(partialImages());
    // @ts-expect-error text is no event
    text.pipe(textDeltas());
    // @ts-expect-error text is no event
    text.pipe(finalUsage());
  });
});
