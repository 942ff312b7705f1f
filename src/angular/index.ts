// `rx-llm/angular`: providers and signals over the client. ES modules only, and no decorators, which plain tsc could not
// compile ahead of time.
export {
  provideLlm,
  withDefaults,
  withHttpClient,
  withServerStreams,
  withToken,
  withTransport,
  type LlmConfig,
  type LlmDefaults,
  type LlmFeature,
  type LlmToken,
} from './provide-llm.js';
export type { HttpClientTransportOptions } from './http-client-transport.js';
export {
  llmResource,
  type LlmEvent,
  type LlmResourceOptions,
  type LlmResourceRef,
  type LlmResourceStatus,
} from './llm-resource.js';
export type { TextBlock } from './text-blocks.js';
