import type { OperatorFunction } from 'rxjs';
import { message, type MessageSink } from '../concepts/message.js';
import type { ChatCompletion } from '../endpoints/chat-completions/completion.js';
import type { ImagesResult } from '../endpoints/images/wire.js';
import type { MessageObject } from '../endpoints/messages/items.js';
import type { ResponseObject } from '../endpoints/responses/response.js';
import type { ChatLike, EndpointName, ImagesLike, MessagesLike, ResponsesLike } from '../events.js';
import { read } from './read.js';

/** What the endpoint of an event returns when it does not stream. */
export type AccumulatedMessage<Event> = Event extends { readonly type: `response.${string}` }
  ? ResponseObject
  : Event extends { readonly type: `message_${string}` | `content_block_${string}` }
    ? MessageObject
    : Event extends { readonly type: `image_${string}` }
      ? ImagesResult
      : Event extends { readonly type: string }
        ? never
        : ChatCompletion;

/**
 * Emits the object that the endpoint would have returned without streaming, as far as it is known, after each event that
 * changed it: a chat completion, a response, a message, or an images result. The last one is whole.
 *
 * ```text
 * source:  --a--b--c--|      a: 'Hel', b: 'lo', c: finish
 *          accumulateMessage()
 * output:  --x--y--z--|      x: 'Hel', y: 'Hello', z: 'Hello', finished
 * ```
 *
 * The objects are plain data and are never changed. What did not change is the same object as in the emission before, so
 * that views which compare by identity redraw only what is new.
 *
 * - Messages: the input of a tool call is `{}` until its block is over; text that is not JSON is left as a string.
 * - Log probabilities are filled in when their choice or text part is over, as their list is as long as the answer.
 * - Responses: of each item the richer of what streamed and what the final response lists is kept.
 * - Images: partial images are no part of the result.
 *
 * If the source errors, so does the result, after what had been received was emitted. Unsubscribing unsubscribes from
 * the source.
 *
 * @example
 * ```ts
 * import { lastValueFrom } from 'rxjs';
 * import { accumulateMessage, createLlmClient } from 'rx-llm';
 *
 * const completion = await lastValueFrom(
 *   createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *     .chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
 *     .pipe(accumulateMessage()),
 * );
 * console.log(completion.choices[0]?.message.content);
 * ```
 */
export function accumulateMessage<
  Event extends ChatLike | ResponsesLike | MessagesLike | ImagesLike,
>(): OperatorFunction<Event, AccumulatedMessage<Event>> {
  return read<Event, MessageSink, EndpointName, AccumulatedMessage<Event>>(message, (destination) => ({
    sink: {
      snapshot(value) {
        destination.next(value as AccumulatedMessage<Event>);
      },
    },
  }));
}
