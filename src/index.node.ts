// The entry for Node: the same surface with another default transport. The local name wins over the star's.
export * from './index.js';
export { createLlmClient } from './create-llm-client.node.js';
