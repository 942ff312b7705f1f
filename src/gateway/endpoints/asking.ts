import { countTokens } from '../content/tokens.js';
import { isObject, list, number, object, own, string, type Json } from '../json.js';
import { bad, type Ask } from '../protocol.js';

/** What the readers of all text endpoints share. */

export function requireModel(body: Json): string {
  const model = own(body, 'model');
  if (typeof model !== 'string' || model.trim() === '') bad('model', "'model' is required and must be a string");
  return model;
}

export function requireStream(body: Json): boolean {
  const stream = own(body, 'stream') ?? false;
  if (typeof stream !== 'boolean') bad('stream', "'stream' must be a boolean");
  return stream;
}

/** A whole number of at least `min`; absent and null are `undefined`. */
export function wholeNumber(body: Json, key: string, min = 1, max = Infinity): number | undefined {
  const value = own(body, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    bad(key, `'${key}' must be a whole number of at least ${min}${max === Infinity ? '' : ` and at most ${max}`}`);
  }
  return value;
}

export function range(body: Json, key: string, min: number, max: number): void {
  const value = own(body, key);
  if (value === undefined || value === null) return;
  const n = number(value);
  if (n === undefined || n < min || n > max) bad(key, `'${key}' must be a number from ${min} to ${max}`);
}

/** The visible text of a content field: a string, or parts of which some hold text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => (typeof part === 'string' ? part : string(object(part)['text'])))
    .filter(Boolean)
    .join('\n');
}

const MESSAGE_OVERHEAD = 3;
const PICTURE_TOKENS = 85;

/** Input tokens: each text by the token rule, 3 a message, 85 a picture or file, and the JSON of tools and schemas. */
export function inputTokens(messages: readonly unknown[], ...beside: unknown[]): number {
  let sum = 0;
  const add = (value: unknown, key = ''): void => {
    if (typeof value === 'string') {
      if (key === 'image_url' || key === 'url' || key === 'data' || key === 'file_data') sum += PICTURE_TOKENS;
      else if (key !== 'role' && key !== 'type' && key !== 'id') sum += countTokens(value);
    } else if (Array.isArray(value)) value.forEach((one) => add(one, key));
    else if (isObject(value)) for (const [name, one] of Object.entries(value)) add(one, name);
  };
  for (const message of messages) {
    sum += MESSAGE_OVERHEAD;
    add(message);
  }
  for (const one of beside)
    if (one !== undefined && one !== null) sum += countTokens(typeof one === 'string' ? one : JSON.stringify(one));
  return sum;
}

/**
 * What the content depends on besides the words: not on how the request is spelled, so that every client that asks the same gets
 * the same answer.
 */
export function contentSeed(body: Json, gatewaySeed: string): string {
  return `${gatewaySeed}:${string(own(body, 'model'))}:${JSON.stringify(own(body, 'seed') ?? null)}`;
}

export function stops(value: unknown, param: string, max: number): readonly string[] {
  if (value === undefined || value === null) return [];
  const all = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(all) || all.length > max || all.some((stop) => typeof stop !== 'string')) {
    bad(param, `'${param}' must be a string or up to ${max} strings`);
  }
  return all as string[];
}

export const NOTHING_ASKED: Omit<Ask, 'model' | 'stream' | 'prompt' | 'inputTokens' | 'seed'> = {
  cachedTokens: 0,
  cacheWriteTokens: 0,
  tools: [],
  toolChoice: 'auto',
  parallel: undefined,
  turns: 1,
  toolResults: [],
  effort: undefined,
  format: undefined,
  maxTokens: undefined,
  n: 1,
  stop: [],
};
