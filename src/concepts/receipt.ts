import { chatReceipt } from '../endpoints/chat-completions/receipt.js';
import { imagesReceipt } from '../endpoints/images/receipt.js';
import { messagesReceipt } from '../endpoints/messages/receipt.js';
import { responsesReceipt } from '../endpoints/responses/receipt.js';
import type { ReceiptTally } from '../receipt.js';
import type { Concept } from './concept.js';

/** Told after each event; the tally of an answer stays the same object. */
export type ReceiptSink = (tally: ReceiptTally) => void;

/** Who answered, and what it cost. */
export const receipt = {
  chatCompletions: chatReceipt,
  responses: responsesReceipt,
  messages: messagesReceipt,
  images: imagesReceipt,
} satisfies Concept<ReceiptSink>;
