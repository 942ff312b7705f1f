import { fields, type Fields } from '../fields.js';
import { receiptReader } from '../receipt.js';
import { messagesFinish } from './finish.js';
import { messagesUsage } from './usage.js';

/** The message at the start, the event itself where it is an error; a fallback block names the model that took over. */
function bodyOf(event: object): Fields {
  const { message, content_block } = fields(event);
  const block = fields(content_block);
  if (block.type === 'fallback') return { resolved_model: fields(block.to).model };
  return fields(message ?? event);
}

export const messagesReceipt = receiptReader(bodyOf, messagesUsage, messagesFinish);
