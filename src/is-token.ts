import { chatEndpoint } from './endpoints/chat-completions/endpoint.js';
import type { Endpoint } from './endpoints/endpoint.js';
import { imagesEndpoint } from './endpoints/images/endpoint.js';
import { messagesEndpoint } from './endpoints/messages/endpoint.js';
import { responsesEndpoint } from './endpoints/responses/endpoint.js';
import { endpointOf, type EndpointName, type EventsOf } from './events.js';

export const ENDPOINTS: { readonly [K in EndpointName]: Endpoint<EventsOf[K]> } = {
  chatCompletions: chatEndpoint,
  responses: responsesEndpoint,
  messages: messagesEndpoint,
  images: imagesEndpoint,
};

/**
 * Whether an event shows the reader something, costs money or commits the model: non-empty text, reasoning, refusal or
 * audio, a tool call's start or arguments, an image frame, anything of a server-run tool, and whatever is not known.
 *
 * Role chunks, `response.created`, `message_start`, empty block starts, pings, usage and error frames are no tokens.
 * Retries, fallbacks, timeouts and `tokenSeen` all go by this. A value that is no event at all counts as a token.
 *
 * @example
 * ```ts
 * import { find } from 'rxjs';
 * import { createLlmClient, isToken } from 'rx-llm';
 *
 * const startedAt = Date.now();
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .responses({ model: 'm', input: 'Hi' })
 *   .pipe(find(isToken))
 *   .subscribe(() => console.log(`first token after ${Date.now() - startedAt} ms`));
 * ```
 */
export function isToken(event: unknown): boolean {
  if (typeof event !== 'object' || event === null) return true;
  const name = endpointOf(event);
  if (name === undefined) return (event as { readonly type?: unknown }).type !== 'error';
  const endpoint: Pick<Endpoint<never>, 'isToken'> = ENDPOINTS[name];
  return endpoint.isToken(event as never);
}
