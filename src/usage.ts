/**
 * Token counts in one shape for every endpoint. Absent means that it was never reported, 0 that it was reported as
 * zero. The wire's own object, with whatever else it holds, is in `raw`.
 */
export interface Usage {
  /** All input, cache reads and writes included, on every endpoint. */
  readonly inputTokens?: number;
  /** All output, reasoning included. */
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  /** US dollars. */
  readonly costUsd?: number;
  readonly raw: Readonly<Record<string, unknown>>;
}
