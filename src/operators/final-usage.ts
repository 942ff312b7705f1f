import type { OperatorFunction } from 'rxjs';
import { usage } from '../concepts/usage.js';
import { isLlmStreamError } from '../errors.js';
import type { ChatLike, ImagesLike, MessagesLike, ResponsesLike } from '../events.js';
import type { Usage } from '../usage.js';
import { final, type OnErrorConfig } from './final.js';

/**
 * Emits the usage of the answer at its completion: one value, in the same shape for every endpoint and vendor. Empty
 * when none was reported.
 *
 * Reports are snapshots: the last value of each field counts, nothing is added up; of several turns of Responses or
 * Messages in one stream, the last one is told. On failure the error is passed on, with what was reported before it in
 * `error.usage`; `onError: 'emit'` emits that first. Unsubscribing unsubscribes from the source, and so aborts the
 * request; nothing is emitted then.
 *
 * ```text
 * source          --t----t----u--|       t: text, u: a report of usage
 * finalUsage()    ---------------(a|)    a: { inputTokens: 9, outputTokens: 2, totalTokens: 11, raw: … }
 * ```
 *
 * @example
 * ```ts
 * import { createLlmClient, finalUsage } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .responses({ model: 'm', input: 'Hi' })
 *   .pipe(finalUsage())
 *   .subscribe(({ inputTokens, outputTokens, costUsd }) => console.log(inputTokens, outputTokens, costUsd));
 * ```
 *
 * @param config - what to do on failure
 */
export function finalUsage(
  config?: OnErrorConfig,
): OperatorFunction<ChatLike | ResponsesLike | MessagesLike | ImagesLike, Usage> {
  return final(usage, config, (error) => (isLlmStreamError(error) ? error.usage : undefined));
}
