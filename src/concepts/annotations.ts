import type { Annotation } from '../annotation.js';
import { chatAnnotations } from '../endpoints/chat-completions/annotations.js';
import { messagesAnnotations } from '../endpoints/messages/annotations.js';
import { responsesAnnotations } from '../endpoints/responses/annotations.js';
import type { Concept } from './concept.js';

export type AnnotationSink = (annotation: Annotation) => void;

/** Citations and other marks on the answer. */
export const annotations = {
  chatCompletions: chatAnnotations,
  responses: responsesAnnotations,
  messages: messagesAnnotations,
} satisfies Concept<AnnotationSink, 'chatCompletions' | 'responses' | 'messages'>;
