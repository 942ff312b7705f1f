import { lastValueFrom, type Observable } from 'rxjs';
import {
  createLlmClient,
  retryBeforeFirstToken,
  textDeltas,
  type ChatCompletionChunk,
  type LlmClient,
  type Usage,
} from 'rx-llm';

// Without @types/node, so that what the package's own declarations need comes to light.
const { env } = (globalThis as unknown as { process: { env: Record<string, string | undefined> } }).process;
const client: LlmClient = createLlmClient({ baseUrl: env['BASE_URL'] ?? '' });
const chunks: Observable<ChatCompletionChunk> = client.chatCompletions({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
});
const text: Observable<string> = chunks.pipe(retryBeforeFirstToken({ count: 1 }), textDeltas());
export const tokens = (usage: Usage): number => usage.inputTokens ?? 0;

client.responses({ model: 'm', input: 'Hi' }).subscribe((event) => {
  if (event.type === 'response.output_text.delta') event.delta.toUpperCase();
  // @ts-expect-error a type that no endpoint has
  if (event.type === 'response.no_such_event') return;
});
// @ts-expect-error images carry no text
client.images({ model: 'm', prompt: 'A dot' }).pipe(textDeltas());

void lastValueFrom(text).then((last) => {
  if (last !== 'dich 😀') throw new Error(`the last text was ${last}`);
});
