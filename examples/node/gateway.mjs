// Where the programs of this folder ask. One of their own unless the environment names one:
//
//   RX_LLM_BASE_URL=https://gateway.example/v1 RX_LLM_API_KEY=… RX_LLM_MODEL=… node examples/node/stdout.mjs
import { startGateway } from 'rx-llm/gateway';

export async function findGateway() {
  const { RX_LLM_BASE_URL, RX_LLM_API_KEY: apiKey = 'any', RX_LLM_MODEL: model = 'auto' } = process.env;
  if (RX_LLM_BASE_URL) return { baseUrl: RX_LLM_BASE_URL, apiKey, model, close() {} };
  const gateway = await startGateway({ pace: { ttftMs: 200, tokensPerSecond: 60, jitter: 0.4 } });
  return { baseUrl: gateway.url, apiKey, model, close: () => void gateway.close() };
}
