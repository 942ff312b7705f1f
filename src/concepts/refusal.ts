import { chatRefusal } from '../endpoints/chat-completions/refusal.js';
import { responsesRefusal } from '../endpoints/responses/refusal.js';
import type { Concept } from './concept.js';
import type { TextSink } from './text.js';

/** The words of a refusal, which are no part of the text. Messages has only a stop reason for it. */
export const refusal = {
  chatCompletions: chatRefusal,
  responses: responsesRefusal,
} satisfies Concept<TextSink, 'chatCompletions' | 'responses'>;
