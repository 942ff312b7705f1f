import type { Json } from './json.js';
import type { Dialect } from './protocol.js';

const KNOWN: Readonly<Record<Dialect, readonly string[]>> = {
  a: ['vendor/leaf-1', 'vendor/leaf-reasoner', 'vendor/rail-1', 'vendor/painter', 'vendor/claude-compatible'],
  b: ['ninja/auto', 'gpt-5.6-luna', 'gemini-3-flash', 'deepseek-v4-flash', 'claude-opus-5-5', 'gpt-image-2'],
};

const PROVIDERS: readonly (readonly [RegExp, string])[] = [
  [/claude/i, 'anthropic'],
  [/gemini/i, 'google'],
  [/deepseek/i, 'deepseek'],
  [/^(?:gpt|o\d|dall|chatgpt)/i, 'openai'],
];

export function providerOf(model: string): string {
  return (
    PROVIDERS.find(([name]) => name.test(model))?.[1] ??
    (model.includes('/') ? (model.split('/')[0] ?? 'demo') : 'demo')
  );
}

/** A router's name stands for a model; all others for themselves. */
export function resolve(model: string): string {
  return model === 'auto' || model.endsWith('/auto') ? 'gpt-5.6-luna' : model;
}

/** USD for a million tokens. Images are paid as output tokens. */
const PRICES = { input: 0.3, cached: 0.075, output: 1.2 } as const;

/** The price of an answer, exact to a hundredth of a millionth of a dollar. */
export function costOf(inputTokens: number, cachedTokens: number, outputTokens: number): number {
  const usd =
    ((inputTokens - cachedTokens) * PRICES.input + cachedTokens * PRICES.cached + outputTokens * PRICES.output) / 1e6;
  return Math.round(usd * 1e8) / 1e8;
}

export function modelNames(dialect: Dialect, only: readonly string[] | undefined): readonly string[] {
  return only ?? KNOWN[dialect];
}

const CREATED = 1_780_000_000;

export function modelObject(id: string, dialect: Dialect, anthropic: boolean): Json {
  if (anthropic) return { type: 'model', id, display_name: id, created_at: new Date(CREATED * 1000).toISOString() };
  const pricing = { prompt: String(PRICES.input / 1e6), completion: String(PRICES.output / 1e6) };
  return {
    id,
    object: 'model',
    created: CREATED,
    owned_by: providerOf(id),
    ...(dialect === 'a' ? { name: id, pricing } : {}),
  };
}

export function modelList(dialect: Dialect, only: readonly string[] | undefined, anthropic: boolean): Json {
  const names = modelNames(dialect, only);
  const data = names.map((id) => modelObject(id, dialect, anthropic));
  return anthropic
    ? { data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null }
    : { object: 'list', data };
}
