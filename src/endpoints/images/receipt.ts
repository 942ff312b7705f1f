import { fields } from '../fields.js';
import { receiptReader } from '../receipt.js';
import { imagesUsage } from './usage.js';

export const imagesReceipt = receiptReader(fields, imagesUsage);
