// Starts the relay on port 3000 (PORT), with a gateway of its own, or before a real one:
//
//   RX_LLM_BASE_URL=https://gateway.example/v1 RX_LLM_API_KEY=… RX_LLM_MODEL=… npm start
import { startGateway } from 'rx-llm/gateway';
import { createApp } from './create-app';

async function main(): Promise<void> {
  const { RX_LLM_BASE_URL: baseUrl, RX_LLM_API_KEY: apiKey, RX_LLM_MODEL: model, PORT = '3000' } = process.env;
  const gateway = baseUrl ? undefined : await startGateway({ pace: { ttftMs: 300, tokensPerSecond: 40, jitter: 0.4 } });
  const app = await createApp({
    baseUrl: baseUrl ?? gateway?.url ?? '',
    ...(apiKey && { apiKey }),
    ...(model && { model }),
  });
  await app.listen(Number(PORT));

  const address = `http://localhost:${PORT}`;
  console.log(
    `a page that asks:  ${address}/\nfor your clients:  ${address}/v1\nthe gateway:       ${baseUrl ?? gateway?.url}`,
  );
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void app.close().then(() => gateway?.close()));
  }
}

void main();
