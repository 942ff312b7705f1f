import { counted, withCost } from '../../usage.js';
import { fields } from '../fields.js';

/** The usage of `message_start` (the input) and `message_delta` (the output so far, and corrections of the input). */
export function messagesUsage(event: object): object | undefined {
  const { usage, message, cost_usd } = fields(event);
  const reported = usage ?? (message && fields(message).usage);
  return withCost(counted(reported), cost_usd);
}
