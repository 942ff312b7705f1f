import { createClient, type LlmClient, type LlmClientOptions } from './client.js';
import { undiciTransport } from './transport/undici.js';

/** `createLlmClient` of the entry for Node: requests travel through undici unless `transport` says otherwise. */
export function createLlmClient(options: LlmClientOptions): LlmClient {
  return createClient(options, undiciTransport);
}
