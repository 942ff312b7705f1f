import { chatTools } from '../endpoints/chat-completions/tools.js';
import { messagesTools } from '../endpoints/messages/tools.js';
import { responsesTools } from '../endpoints/responses/tools.js';
import type { ToolCallDraft, ToolCallDrafts } from '../tool-calls.js';
import type { Concept } from './concept.js';

/** What readers tell of the calls of client-side tools. Tools that the service runs itself are not told of. */
export interface ToolCallSink {
  /** The choice that is read. */
  readonly choice: number;
  /** Where the reader writes what it finds. */
  readonly drafts: ToolCallDrafts;
  /** Once for each call, when it is complete. */
  completed(draft: ToolCallDraft): void;
  /** After each event that changed a draft. */
  changed(): void;
}

/** The calls of client-side tools. */
export const tools = {
  chatCompletions: chatTools,
  responses: responsesTools,
  messages: messagesTools,
} satisfies Concept<ToolCallSink, 'chatCompletions' | 'responses' | 'messages'>;
