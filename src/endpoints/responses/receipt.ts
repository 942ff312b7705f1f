import { fields, type Fields } from '../fields.js';
import { receiptReader } from '../receipt.js';
import { responsesFinish } from './finish.js';
import { responsesUsage } from './usage.js';

const responseOf = (event: object): Fields => fields(fields(event).response);

export const responsesReceipt = receiptReader(responseOf, responsesUsage, responsesFinish);
