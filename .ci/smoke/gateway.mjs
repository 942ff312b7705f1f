import { firstValueFrom, toArray } from 'rxjs';
import { createLlmClient, textDeltas } from 'rx-llm';
import { startGateway } from 'rx-llm/gateway';

const gateway = await startGateway();
const client = createLlmClient({ baseUrl: gateway.url, apiKey: 'any' });
const messages = [{ role: 'user', content: 'Say something' }];
for (const answer of [
  client.chatCompletions({ model: 'm', messages }),
  client.responses({ model: 'm', input: 'Say something' }),
  client.messages({ model: 'm', max_tokens: 50, messages }),
]) {
  const text = (await firstValueFrom(answer.pipe(textDeltas(), toArray()))).join('');
  if (text.length === 0) throw new Error('the gateway said nothing');
}
await firstValueFrom(client.images({ model: 'm', prompt: 'A dot' }).pipe(toArray()));
await gateway.close();
