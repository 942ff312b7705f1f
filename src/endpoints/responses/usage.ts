import { counted, withCost } from '../../usage.js';
import { fields } from '../fields.js';

/** The usage of the response object that the first and the last events carry; a gateway's cost stands beside it. */
export function responsesUsage(event: object): object | undefined {
  const { response } = fields(event);
  if (!response) return undefined;
  const { usage, cost_usd } = fields(response);
  return withCost(counted(usage), cost_usd);
}
