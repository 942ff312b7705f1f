import { counted, withCost } from '../../usage.js';
import { fields } from '../fields.js';

/** The usage of the finished image, under OpenAI's names or those of chat. */
export function imagesUsage(event: object): object | undefined {
  const { usage, cost_usd } = fields(event);
  return withCost(counted(usage), cost_usd);
}
