import { counted, withCost } from '../../usage.js';
import { fields, list } from '../fields.js';

/**
 * The usage that a chunk reports: on a chunk of its own, on the finish chunk, or on every one; Groq's under `x_groq`,
 * others' inside the choice; the cost beside it.
 */
export function chatUsage(event: object): object | undefined {
  const { usage, x_groq, choices, cost_usd } = fields(event);
  const reported = counted(usage) ?? counted(fields(x_groq).usage) ?? counted(fields(list(choices)[0]).usage);
  return withCost(reported, cost_usd);
}
