import { fields, type Fields } from './endpoints/fields.js';

/**
 * Token counts in one shape for every endpoint. Absent means that it was never reported, 0 that it was reported as
 * zero. What the wire said, with whatever else it holds, is in `raw`.
 */
export interface Usage {
  /** All input, cache reads and writes included, on every endpoint. */
  readonly inputTokens?: number;
  /** All output, reasoning included. */
  readonly outputTokens?: number;
  /** As reported; the sum of input and output where none was. */
  readonly totalTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  /** US dollars. */
  readonly costUsd?: number;
  /** The wire's own names and values, put together from all reports of the answer. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const TOTALS = ['prompt_tokens', 'input_tokens', 'completion_tokens', 'output_tokens', 'total_tokens'];
/** The three parts of the input on Messages. */
const INPUTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

/**
 * The first number that is not 0, else 0 if there is one, else NaN: that is less than nothing and equal to nothing, so
 * that what is not known needs no checks. Numeric text counts: some gateways send money as text.
 */
export function number(...values: readonly unknown[]): number {
  const numbers = values
    .map((value) => (typeof value === 'string' && value.trim() ? Number(value) : value))
    .filter((value): value is number => Number.isFinite(value));
  return numbers.find(Boolean) ?? numbers[0] ?? NaN;
}

/** The value if it is a usage object that reports something: some servers send empty ones, or timings alone. */
export function counted(value: unknown): Fields | undefined {
  if (!value) return undefined;
  const usage = fields(value);
  return TOTALS.some((name) => Number.isFinite(usage[name])) ? usage : undefined;
}

/** A usage object with the cost that some gateways put beside it. */
export function withCost(usage: Fields | undefined, cost: unknown): Fields | undefined {
  return cost === undefined || cost === null ? usage : { ...usage, cost_usd: cost };
}

/**
 * A usage object of any endpoint and vendor in one shape; `undefined` where it holds no token count. Their names do not
 * clash, so that one function reads them all.
 */
export function normalizeUsage(usage: object): Usage | undefined {
  const raw = counted(usage);
  if (!raw) return undefined;
  const details = Object.assign(
    {},
    fields(raw.prompt_token_details),
    ...TOTALS.map((name) => fields(raw[`${name}_details`])),
  ) as Fields;
  const parts = INPUTS.map((name) => number(raw[name]));
  const cached = number(
    details.cached_tokens,
    raw.prompt_cache_hit_tokens,
    raw.num_cached_tokens,
    raw.cached_tokens,
    parts[1],
  );
  const detailed = number(details.reasoning_tokens, details.thinking_tokens);
  const reasoning = number(detailed, raw.reasoning_tokens);
  let input = number(raw.prompt_tokens, ...parts);
  let output = number(raw.completion_tokens, raw.output_tokens);
  let total = number(raw.total_tokens);

  if (Number.isFinite(input) && !Number.isFinite(raw.prompt_tokens) && !raw.input_tokens_details) {
    // Messages: `input_tokens` leaves the cache out, and a gateway's total may be older than the last count.
    input = parts.reduce((sum, part) => sum + (part || 0), 0);
    if (total < input + output) total = NaN;
  }
  const sum = input + output;
  total = number(total, sum);
  // xAI may count the cache beside the input and reasoning beside the output; Perplexity's reasoning, in no details, is.
  if (cached > input) input += cached;
  if (reasoning && (Number.isNaN(detailed) || sum + reasoning === total)) output += reasoning;

  const counts = {
    inputTokens: input,
    outputTokens: output,
    totalTokens: total,
    cachedInputTokens: cached,
    cacheWriteTokens: number(details.cache_write_tokens, details.cache_creation_tokens, parts[2]),
    reasoningTokens: reasoning,
    // xAI's ticks are 10⁻¹⁰ dollars.
    costUsd: number(raw.cost_usd, raw.cost, fields(raw.cost).total_cost, number(raw.cost_in_usd_ticks) / 1e10),
  };
  return { ...Object.fromEntries(Object.entries(counts).filter(([, count]) => Number.isFinite(count))), raw };
}

/** Every report is a snapshot: the last value of each field stands, nothing is added up. Changes and returns `into`. */
export function mergeUsage(into: Record<string, unknown>, report: Fields, nested?: boolean): Record<string, unknown> {
  // A 0 after a number is a placeholder; not so (Messages) beside other input, which says where the tokens went.
  const zeroes = INPUTS.some((name) => number(report[name])) ? INPUTS : [];
  for (const [name, value] of Object.entries(report)) {
    const before = into[name];
    // Assigning `__proto__` would not make a field.
    if (value === null || value === undefined || name === '__proto__') continue;
    if (before && (typeof value !== typeof before || (value === 0 && !zeroes.includes(name)))) continue;
    into[name] =
      before && typeof value === 'object' && !nested && !Array.isArray(value)
        ? mergeUsage({ ...before }, fields(value), true)
        : value;
  }
  return into;
}

/** The usage of one answer, from however many reports of it. */
export class UsageTally {
  #raw: Record<string, unknown> = {};
  #value: Usage | undefined;
  #stale = false;

  /** Takes a usage object as it stands on the wire. */
  report(raw: object): void {
    mergeUsage(this.#raw, raw as Fields);
    this.#stale = true;
  }

  /** The same object until something is reported again; `undefined` while no token count has been. */
  get value(): Usage | undefined {
    if (this.#stale) this.#value = normalizeUsage({ ...this.#raw });
    this.#stale = false;
    return this.#value;
  }
}
