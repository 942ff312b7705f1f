import { chatText } from '../endpoints/chat-completions/text.js';
import { messagesText } from '../endpoints/messages/text.js';
import { responsesText } from '../endpoints/responses/text.js';
import type { Concept } from './concept.js';

/** Takes each piece of a text, never an empty one; `choice` is 0 on endpoints without choices. */
export type TextSink = (piece: string, choice: number) => void;

/** The text that the reader of an answer sees. */
export const text = {
  chatCompletions: chatText,
  responses: responsesText,
  messages: messagesText,
} satisfies Concept<TextSink, 'chatCompletions' | 'responses' | 'messages'>;
