import type { OperatorFunction } from 'rxjs';
import { receipt } from '../concepts/receipt.js';
import type { ChatLike, ImagesLike, MessagesLike, ResponsesLike } from '../events.js';
import type { Receipt } from '../receipt.js';
import { final, type OnErrorConfig } from './final.js';

/**
 * Emits the receipt of the answer at its completion, one value: ids, the model and who served it, the cost, how the
 * gateway chose, and why the answer ended. It holds what the body says; headers are given to `onResponse` of the
 * request. Empty when the body says nothing of it.
 *
 * On failure the error is passed on; `onError: 'emit'` emits what is known first. Unsubscribing unsubscribes from the
 * source, and so aborts the request; nothing is emitted then.
 *
 * ```text
 * source            --t----t----f--|       t: text, f: the finish chunk with its receipt
 * finalReceipt()    ---------------(a|)    a: { id: 'chatcmpl_1', provider: 'google', costUsd: 0.00003, … }
 * ```
 *
 * @example
 * ```ts
 * import { createLlmClient, finalReceipt } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
 *   .pipe(finalReceipt())
 *   .subscribe(({ resolvedModel, provider, costUsd }) => console.log(resolvedModel, provider, costUsd));
 * ```
 *
 * @param config - what to do on failure
 */
export function finalReceipt(
  config?: OnErrorConfig,
): OperatorFunction<ChatLike | ResponsesLike | MessagesLike | ImagesLike, Receipt> {
  return final(receipt, config);
}
