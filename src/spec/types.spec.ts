import type Anthropic from '@anthropic-ai/sdk';
import { expectTypeOf } from 'expect-type';
import type OpenAI from 'openai';
import { EMPTY, map, of, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import {
  accumulateMessage,
  accumulateText,
  accumulateToolCalls,
  annotations,
  asUnknownEvent,
  createLlmClient,
  fallbackBeforeFirstToken,
  finalImages,
  finalReceipt,
  finalUsage,
  finishReason,
  isKnownEvent,
  isToken,
  partialImages,
  reasoningDeltas,
  refusalDeltas,
  retryBeforeFirstToken,
  streamState,
  type pipeServerSentEvents,
  streamTimeout,
  textDeltas,
  toolCalls,
  toServerSentEvents,
  type Annotation,
  type ChatCompletion,
  type ChatCompletionChunk,
  type ChatCompletionRequest,
  type ChatLike,
  type ContentBlock,
  type FinishReason,
  type ImageRequest,
  type ImagesLike,
  type ImagesResult,
  type ImageStreamEvent,
  type KnownEvent,
  type LlmClient,
  type MessageObject,
  type MessageRequest,
  type MessagesLike,
  type MessageStreamEvent,
  type Receipt,
  type ResponseObject,
  type ResponseOutputItem,
  type ResponseRequest,
  type ResponsesLike,
  type ResponseStreamEvent,
  type ServerSentEvent,
  type StreamedImage,
  type StreamState,
  type ToolCall,
  type UnknownEvent,
  type Usage,
} from 'rx-llm';

// The compiler is the test: `npm run typecheck` fails where an expectation does not hold, or where what ought to be
// refused compiles. The bodies run as well, over empty streams, so that no import is left that does not exist.

const chat: Observable<ChatCompletionChunk> = EMPTY;
const responses: Observable<ResponseStreamEvent> = EMPTY;
const messages: Observable<MessageStreamEvent> = EMPTY;
const images: Observable<ImageStreamEvent> = EMPTY;

// The vendors' own events.
const openaiChat: Observable<OpenAI.Chat.ChatCompletionChunk> = EMPTY;
const openaiResponses: Observable<OpenAI.Responses.ResponseStreamEvent> = EMPTY;
const openaiImages: Observable<OpenAI.ImageGenStreamEvent> = EMPTY;
const openaiEdits: Observable<OpenAI.ImageEditStreamEvent> = EMPTY;
const anthropic: Observable<Anthropic.MessageStreamEvent> = EMPTY;
const anthropicBeta: Observable<Anthropic.Beta.BetaRawMessageStreamEvent> = EMPTY;

const ofStrings: Observable<string> = EMPTY;
const ofNumbers: Observable<{ readonly type: number }> = EMPTY;
const ofAnyType: Observable<{ readonly type: string }> = EMPTY;

describe('the types of events', () => {
  it('narrow by their type', () => {
    const response = (event: ResponseStreamEvent): void => {
      if (event.type === 'response.output_text.delta') expectTypeOf(event.delta).toEqualTypeOf<string>();
      if (event.type === 'response.completed') expectTypeOf(event.response).toEqualTypeOf<ResponseObject>();
      if (event.type === 'response.output_item.done') {
        expectTypeOf(event.item).toEqualTypeOf<ResponseOutputItem | null>();
        if (event.item?.type === 'function_call') expectTypeOf(event.item.call_id).toEqualTypeOf<string>();
        if (event.item?.type === 'message' && event.item.content[0]?.type === 'refusal') {
          expectTypeOf(event.item.content[0].refusal).toEqualTypeOf<string>();
        }
      }
      // @ts-expect-error -- no event has every field
      void event.delta;
      // @ts-expect-error -- the union is closed
      if (event.type === 'response.progress') return;
    };
    const message = (event: MessageStreamEvent): void => {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
        expectTypeOf(event.delta.text).toEqualTypeOf<string>();
      }
      if (event.type === 'content_block_start') {
        expectTypeOf(event.content_block).toEqualTypeOf<ContentBlock>();
        if (event.content_block.type === 'tool_use') expectTypeOf(event.content_block.input).toEqualTypeOf<unknown>();
      }
      // @ts-expect-error -- the union is closed
      if (event.type === 'message_pause') return;
    };
    const image = (event: ImageStreamEvent): void => {
      if (event.type === 'image_generation.partial_image') {
        expectTypeOf(event.partial_image_index).toEqualTypeOf<number>();
      }
      if (event.type === 'image_edit.completed') expectTypeOf(event.b64_json).toEqualTypeOf<string | undefined>();
    };
    expect([response, message, image]).toHaveLength(3);
  });

  it('have a member for each type, which Extract finds', () => {
    type OfType<E, T> = Extract<E, { readonly type: T }>;
    expectTypeOf<OfType<ResponseStreamEvent, 'response.mcp_call.failed'>>().not.toBeNever();
    expectTypeOf<OfType<ResponseStreamEvent, 'keepalive'>>().not.toBeNever();
    expectTypeOf<OfType<ImageStreamEvent, 'image_edit.partial_image'>>().not.toBeNever();
    expectTypeOf<OfType<ContentBlock, 'web_search_tool_result'>>().not.toBeNever();
    expectTypeOf<OfType<ResponseOutputItem, 'shell_call_output'>>().not.toBeNever();
    // Every member has a single type.
    type Each<T extends string> = T extends string
      ? [OfType<ResponseStreamEvent, T>] extends [never]
        ? T
        : never
      : never;
    expectTypeOf<Each<ResponseStreamEvent['type']>>().toBeNever();
  });

  it('hold no any, and no type that is any string', () => {
    expectTypeOf<string>().not.toExtend<ResponseStreamEvent['type']>();
    expectTypeOf<string>().not.toExtend<MessageStreamEvent['type']>();
    expectTypeOf<string>().not.toExtend<ImageStreamEvent['type']>();
    expectTypeOf<ChatCompletionChunk['type']>().toEqualTypeOf<undefined>();
    expectTypeOf<ChatCompletionChunk['usage']>().not.toBeAny();
  });

  it('know all events that the SDKs know', () => {
    expectTypeOf<OpenAI.Responses.ResponseStreamEvent['type']>().toExtend<ResponseStreamEvent['type']>();
    expectTypeOf<Anthropic.Beta.BetaRawMessageStreamEvent['type']>().toExtend<MessageStreamEvent['type']>();
    expectTypeOf<OpenAI.ImageGenStreamEvent['type']>().toExtend<ImageStreamEvent['type']>();
    expectTypeOf<OpenAI.ImageEditStreamEvent['type']>().toExtend<ImageStreamEvent['type']>();
    expectTypeOf<OpenAI.Chat.ChatCompletionChunk>().toExtend<ChatCompletionChunk>();
    expectTypeOf<Anthropic.MessageStreamEvent>().toExtend<MessageStreamEvent>();
    expectTypeOf<OpenAI.ImageGenStreamEvent>().toExtend<ImageStreamEvent>();
    expectTypeOf<OpenAI.Responses.ResponseOutputItem['type']>().toExtend<ResponseOutputItem['type']>();
    expectTypeOf<Anthropic.Beta.BetaContentBlock['type']>().toExtend<ContentBlock['type']>();
  });

  it('fit what operators accept, ours and the SDKs’ alike', () => {
    expectTypeOf<ChatCompletionChunk>().toExtend<ChatLike>();
    expectTypeOf<ResponseStreamEvent>().toExtend<ResponsesLike>();
    expectTypeOf<MessageStreamEvent>().toExtend<MessagesLike>();
    expectTypeOf<ImageStreamEvent>().toExtend<ImagesLike>();
    expectTypeOf<OpenAI.Chat.ChatCompletionChunk>().toExtend<ChatLike>();
    expectTypeOf<OpenAI.Responses.ResponseStreamEvent>().toExtend<ResponsesLike>();
    expectTypeOf<Anthropic.MessageStreamEvent>().toExtend<MessagesLike>();
    expectTypeOf<Anthropic.Beta.BetaRawMessageStreamEvent>().toExtend<MessagesLike>();
    expectTypeOf<OpenAI.ImageGenStreamEvent>().toExtend<ImagesLike>();
    expectTypeOf<ImageStreamEvent>().not.toExtend<ChatLike | ResponsesLike | MessagesLike>();
    expectTypeOf<MessageStreamEvent>().not.toExtend<ChatLike>();
    expectTypeOf<ResponseStreamEvent>().not.toExtend<MessagesLike>();
  });

  it('tell unknown events', () => {
    const read = (event: ResponseStreamEvent | UnknownEvent): void => {
      expectTypeOf(asUnknownEvent(event)).toEqualTypeOf<UnknownEvent | undefined>();
      if (isKnownEvent(event)) expectTypeOf(event).toExtend<KnownEvent>();
    };
    expectTypeOf(isToken).returns.toEqualTypeOf<boolean>();
    expect(read).toBeInstanceOf(Function);
  });
});

describe('the types of requests', () => {
  it('take what a gateway adds, and check what is known', () => {
    const messagesOf = [{ role: 'user', content: 'Hi' }];
    expectTypeOf({ model: 'm', messages: messagesOf, provider: { sort: 'price' } }).toExtend<ChatCompletionRequest>();
    const request: ChatCompletionRequest = {
      model: 'm',
      messages: messagesOf,
      provider: { sort: 'price' },
      plugins: [],
    };
    // @ts-expect-error -- a number is no model
    const wrong: ChatCompletionRequest = { model: 1, messages: messagesOf };
    // @ts-expect-error -- what cannot be left out
    const missing: MessageRequest = { model: 'm', messages: [] };
    // @ts-expect-error -- text is no temperature, though a field be added
    const typo: ResponseRequest = { model: 'm', input: 'Hi', temperature: 'hot', plugins: [] };
    expect([request, wrong, missing, typo]).toHaveLength(4);
  });

  it('take the requests of the SDKs as they are', () => {
    expectTypeOf<OpenAI.Chat.ChatCompletionCreateParamsStreaming>().toExtend<ChatCompletionRequest>();
    expectTypeOf<OpenAI.Responses.ResponseCreateParamsStreaming>().toExtend<ResponseRequest>();
    expectTypeOf<Anthropic.MessageCreateParamsStreaming>().toExtend<MessageRequest>();
    expectTypeOf<OpenAI.ImageGenerateParamsStreaming>().toExtend<ImageRequest>();
  });
});

describe('the types of the client', () => {
  it('say what each method emits', () => {
    const client: LlmClient = createLlmClient({ baseUrl: 'https://gateway.example/v1' });
    expectTypeOf(client.chatCompletions).returns.toEqualTypeOf<Observable<ChatCompletionChunk>>();
    expectTypeOf(client.responses).returns.toEqualTypeOf<Observable<ResponseStreamEvent>>();
    expectTypeOf(client.messages).returns.toEqualTypeOf<Observable<MessageStreamEvent>>();
    expectTypeOf(client.images).returns.toEqualTypeOf<Observable<ImageStreamEvent>>();
    expectTypeOf(client.responses({ model: 'm', input: 'Hi' }).pipe(textDeltas())).toEqualTypeOf<Observable<string>>();
  });
});

describe('the types of operators', () => {
  it('accept every endpoint that can carry what they read, and say what they emit', () => {
    const texts = [chat.pipe(textDeltas()), responses.pipe(textDeltas()), messages.pipe(textDeltas())];
    expectTypeOf(texts).toEqualTypeOf<Observable<string>[]>();
    const sdkTexts = [
      openaiChat.pipe(textDeltas({ choice: 1 })),
      openaiResponses.pipe(textDeltas()),
      anthropic.pipe(textDeltas()),
      anthropicBeta.pipe(textDeltas()),
    ];
    expectTypeOf(sdkTexts).toEqualTypeOf<Observable<string>[]>();

    expectTypeOf(openaiChat.pipe(accumulateText())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(openaiResponses.pipe(accumulateText())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(anthropic.pipe(accumulateText())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(openaiChat.pipe(reasoningDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(openaiResponses.pipe(reasoningDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(anthropic.pipe(reasoningDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(openaiChat.pipe(refusalDeltas())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(openaiResponses.pipe(refusalDeltas())).toEqualTypeOf<Observable<string>>();

    expectTypeOf(openaiChat.pipe(annotations())).toEqualTypeOf<Observable<Annotation>>();
    expectTypeOf(openaiResponses.pipe(annotations())).toEqualTypeOf<Observable<Annotation>>();
    expectTypeOf(anthropic.pipe(annotations())).toEqualTypeOf<Observable<Annotation>>();
    expectTypeOf(openaiChat.pipe(toolCalls())).toEqualTypeOf<Observable<ToolCall>>();
    expectTypeOf(openaiResponses.pipe(toolCalls())).toEqualTypeOf<Observable<ToolCall>>();
    expectTypeOf(anthropic.pipe(toolCalls())).toEqualTypeOf<Observable<ToolCall>>();
    expectTypeOf(openaiChat.pipe(accumulateToolCalls({ partialInput: true }))).toEqualTypeOf<
      Observable<readonly ToolCall[]>
    >();
    expectTypeOf(messages.pipe(accumulateToolCalls())).toEqualTypeOf<Observable<readonly ToolCall[]>>();

    expectTypeOf(openaiChat.pipe(finalUsage())).toEqualTypeOf<Observable<Usage>>();
    expectTypeOf(openaiResponses.pipe(finalUsage())).toEqualTypeOf<Observable<Usage>>();
    expectTypeOf(anthropic.pipe(finalUsage({ onError: 'emit' }))).toEqualTypeOf<Observable<Usage>>();
    expectTypeOf(openaiImages.pipe(finalUsage())).toEqualTypeOf<Observable<Usage>>();
    expectTypeOf(openaiChat.pipe(finalReceipt())).toEqualTypeOf<Observable<Receipt>>();
    expectTypeOf(images.pipe(finalReceipt())).toEqualTypeOf<Observable<Receipt>>();
    expectTypeOf(openaiChat.pipe(finishReason())).toEqualTypeOf<Observable<FinishReason>>();
    expectTypeOf(openaiResponses.pipe(finishReason())).toEqualTypeOf<Observable<FinishReason>>();
    expectTypeOf(anthropic.pipe(finishReason())).toEqualTypeOf<Observable<FinishReason>>();

    expectTypeOf(openaiImages.pipe(partialImages())).toEqualTypeOf<Observable<StreamedImage>>();
    expectTypeOf(openaiEdits.pipe(finalImages())).toEqualTypeOf<Observable<StreamedImage>>();
    expectTypeOf(openaiResponses.pipe(partialImages())).toEqualTypeOf<Observable<StreamedImage>>();
    expectTypeOf(openaiChat.pipe(streamState())).toEqualTypeOf<Observable<StreamState>>();
    expectTypeOf(anthropic.pipe(streamState({ coalesce: 'frame' }))).toEqualTypeOf<Observable<StreamState>>();
    expectTypeOf(openaiResponses.pipe(streamState())).toEqualTypeOf<Observable<StreamState>>();
  });

  it('refuse endpoints that cannot carry what they read', () => {
    // @ts-expect-error -- images have no text
    images.pipe(textDeltas());
    // @ts-expect-error -- images have no text
    openaiImages.pipe(accumulateText());
    // @ts-expect-error -- images have no reasoning
    images.pipe(reasoningDeltas());
    // @ts-expect-error -- a refusal on Messages is a stop reason
    messages.pipe(refusalDeltas());
    // @ts-expect-error -- a refusal on Messages is a stop reason
    anthropic.pipe(refusalDeltas());
    // @ts-expect-error -- images cite nothing
    images.pipe(annotations());
    // @ts-expect-error -- images call no tools
    images.pipe(toolCalls());
    // @ts-expect-error -- images call no tools
    openaiImages.pipe(accumulateToolCalls());
    // @ts-expect-error -- images have no finish reason
    images.pipe(finishReason());
    // @ts-expect-error -- chat has no partial images
    chat.pipe(partialImages());
    // @ts-expect-error -- Messages have no partial images
    anthropic.pipe(partialImages());
    // @ts-expect-error -- Messages have no images
    messages.pipe(finalImages());
    // @ts-expect-error -- images have no text to show
    images.pipe(streamState());
    expect.assertions(0);
  });

  it('refuse what is no event', () => {
    // @ts-expect-error -- strings are no events
    ofStrings.pipe(textDeltas());
    // @ts-expect-error -- a type is a word
    ofNumbers.pipe(textDeltas());
    // @ts-expect-error -- not any word
    ofAnyType.pipe(finalUsage());
    // @ts-expect-error -- strings are no events
    ofStrings.pipe(accumulateMessage());
    // @ts-expect-error -- choices are counted
    chat.pipe(textDeltas({ choice: 'first' }));
    expect.assertions(0);
  });

  it('infer from the events which object they add up to', () => {
    expectTypeOf(chat.pipe(accumulateMessage())).toEqualTypeOf<Observable<ChatCompletion>>();
    expectTypeOf(responses.pipe(accumulateMessage())).toEqualTypeOf<Observable<ResponseObject>>();
    expectTypeOf(messages.pipe(accumulateMessage())).toEqualTypeOf<Observable<MessageObject>>();
    expectTypeOf(images.pipe(accumulateMessage())).toEqualTypeOf<Observable<ImagesResult>>();
    expectTypeOf(openaiChat.pipe(accumulateMessage())).toEqualTypeOf<Observable<ChatCompletion>>();
    expectTypeOf(openaiResponses.pipe(accumulateMessage())).toEqualTypeOf<Observable<ResponseObject>>();
    expectTypeOf(anthropic.pipe(accumulateMessage())).toEqualTypeOf<Observable<MessageObject>>();
    expectTypeOf(anthropicBeta.pipe(accumulateMessage())).toEqualTypeOf<Observable<MessageObject>>();
    expectTypeOf(openaiImages.pipe(accumulateMessage())).toEqualTypeOf<Observable<ImagesResult>>();
    expectTypeOf(openaiEdits.pipe(accumulateMessage())).toEqualTypeOf<Observable<ImagesResult>>();
    // In the middle of a pipe, and behind other operators.
    const content = openaiChat.pipe(
      retryBeforeFirstToken(),
      accumulateMessage(),
      map((completion) => completion.choices[0]?.message.content),
    );
    expectTypeOf(content).toEqualTypeOf<
      Observable<ChatCompletion['choices'][number]['message']['content'] | undefined>
    >();
  });

  it('pass events through as they are', () => {
    expectTypeOf(chat.pipe(retryBeforeFirstToken())).toEqualTypeOf<Observable<ChatCompletionChunk>>();
    expectTypeOf(openaiResponses.pipe(retryBeforeFirstToken({ count: 1 }))).toEqualTypeOf<
      Observable<OpenAI.Responses.ResponseStreamEvent>
    >();
    expectTypeOf(of('a').pipe(retryBeforeFirstToken())).toEqualTypeOf<Observable<string>>();
    expectTypeOf(anthropic.pipe(streamTimeout({ firstTokenMs: 1 }))).toEqualTypeOf<
      Observable<Anthropic.MessageStreamEvent>
    >();
    expectTypeOf(retryBeforeFirstToken<number>()).toEqualTypeOf<MonoTypeOperatorFunction<number>>();
    expectTypeOf(messages.pipe(toServerSentEvents())).toEqualTypeOf<Observable<ServerSentEvent>>();
    expectTypeOf(openaiChat.pipe(toServerSentEvents())).toEqualTypeOf<Observable<ServerSentEvent>>();
    // Forgetting toServerSentEvents() does not compile.
    expectTypeOf<Observable<ServerSentEvent>>().toExtend<Parameters<typeof pipeServerSentEvents>[0]>();
    expectTypeOf(chat).not.toExtend<Parameters<typeof pipeServerSentEvents>[0]>();
    expectTypeOf(responses).not.toExtend<Parameters<typeof pipeServerSentEvents>[0]>();
    expectTypeOf(messages).not.toExtend<Parameters<typeof pipeServerSentEvents>[0]>();
    expectTypeOf<{ id: string }>().not.toExtend<ServerSentEvent>();
    expectTypeOf<{ comment: string }>().toExtend<ServerSentEvent>();
    // NestJS's
    expectTypeOf<ServerSentEvent>().toExtend<{
      data?: string | object;
      id?: string;
      type?: string;
      retry?: number;
      comment?: string;
    }>();
  });

  it('fall back to the same events, or to others', () => {
    expectTypeOf(chat.pipe(fallbackBeforeFirstToken(chat))).toEqualTypeOf<Observable<ChatCompletionChunk>>();
    expectTypeOf(chat.pipe(fallbackBeforeFirstToken(() => messages))).toEqualTypeOf<
      Observable<ChatCompletionChunk | MessageStreamEvent>
    >();
    expectTypeOf(
      chat.pipe(
        fallbackBeforeFirstToken(() => messages),
        textDeltas(),
      ),
    ).toEqualTypeOf<Observable<string>>();
  });
});
