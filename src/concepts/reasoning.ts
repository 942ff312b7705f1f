import { chatReasoning } from '../endpoints/chat-completions/reasoning.js';
import { messagesReasoning } from '../endpoints/messages/reasoning.js';
import { responsesReasoning } from '../endpoints/responses/reasoning.js';
import type { Concept } from './concept.js';
import type { TextSink } from './text.js';

/** What the model says to itself before it answers, as far as it is shown. */
export const reasoning = {
  chatCompletions: chatReasoning,
  responses: responsesReasoning,
  messages: messagesReasoning,
} satisfies Concept<TextSink, 'chatCompletions' | 'responses' | 'messages'>;
