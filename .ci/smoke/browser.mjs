// A use of the library in a page.
import { createLlmClient, textDeltas } from 'rx-llm';

const client = createLlmClient({ baseUrl: '/v1' });
client
  .chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
  .pipe(textDeltas())
  .subscribe((text) => document.body.append(text));
