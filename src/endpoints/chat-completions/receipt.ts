import { fields } from '../fields.js';
import { receiptReader } from '../receipt.js';
import { chatFinish } from './finish.js';
import { chatUsage } from './usage.js';

/** A chunk holds them itself: one gateway's finish chunk all of them, others' chunks some. */
export const chatReceipt = receiptReader(fields, chatUsage, chatFinish);
