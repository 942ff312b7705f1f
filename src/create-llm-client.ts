import { createClient, type LlmClient, type LlmClientOptions } from './client.js';
import { fetchTransport } from './transport/fetch.js';

/**
 * A client for the streaming endpoints of one gateway. Sends nothing by itself: see {@link LlmClient}.
 *
 * ```text
 * client.chatCompletions(request)   --a--b--c--|      each subscription is a request
 * ```
 *
 * @throws TypeError if `baseUrl` cannot be one, or holds credentials
 * @throws RangeError if one of `timeouts` is negative or not a number
 *
 * @example
 * ```ts
 * import { createLlmClient, textDeltas } from 'rx-llm';
 *
 * const client = createLlmClient({ baseUrl: 'https://gateway.example/v1', apiKey: 'key' });
 *
 * client
 *   .chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
 *   .pipe(textDeltas())
 *   .subscribe((text) => console.log(text));
 * ```
 */
export function createLlmClient(options: LlmClientOptions): LlmClient {
  return createClient(options, fetchTransport);
}
