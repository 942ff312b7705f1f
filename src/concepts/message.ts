import type { ChatCompletion } from '../endpoints/chat-completions/completion.js';
import { chatMessage } from '../endpoints/chat-completions/message.js';
import { imagesMessage } from '../endpoints/images/message.js';
import type { ImagesResult } from '../endpoints/images/wire.js';
import type { MessageObject } from '../endpoints/messages/items.js';
import { messagesMessage } from '../endpoints/messages/message.js';
import { responsesMessage } from '../endpoints/responses/message.js';
import type { ResponseObject } from '../endpoints/responses/response.js';
import type { Concept } from './concept.js';

export interface MessageSink {
  /**
   * After each event that changed it: the object that the endpoint would have returned without streaming, as far as it
   * is known. Plain data that is never changed; what did not change is the same object as before.
   */
  snapshot(message: ChatCompletion | ResponseObject | MessageObject | ImagesResult): void;
}

export const message: Concept<MessageSink> = {
  chatCompletions: chatMessage,
  responses: responsesMessage,
  messages: messagesMessage,
  images: imagesMessage,
};
