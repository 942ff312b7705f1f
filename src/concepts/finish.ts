import { chatFinish } from '../endpoints/chat-completions/finish.js';
import { messagesFinish } from '../endpoints/messages/finish.js';
import { responsesFinish } from '../endpoints/responses/finish.js';
import type { FinishReason } from '../finish-reason.js';
import type { Concept } from './concept.js';

/** Told once for each choice. */
export type FinishSink = (finish: FinishReason, choice: number) => void;

/** Why an answer ended. */
export const finish = {
  chatCompletions: chatFinish,
  responses: responsesFinish,
  messages: messagesFinish,
} satisfies Concept<FinishSink, 'chatCompletions' | 'responses' | 'messages'>;
