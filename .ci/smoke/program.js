// One program for every way to load the package: the loader hands in the modules.
// Streams all four endpoints from BASE_URL, aborts one, and prints a line that the caller compares.
export async function program({ rxLlm, rxjs }) {
  const { createLlmClient, textDeltas, accumulateToolCalls, finalUsage, finalImages, LlmStreamError } = rxLlm;
  const { firstValueFrom, lastValueFrom, take, toArray } = rxjs;
  const client = createLlmClient({ baseUrl: process.env.BASE_URL, apiKey: 'smoke' });
  const text = async (source) => (await lastValueFrom(source.pipe(textDeltas(), toArray()))).join('');

  const chat = client.chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
  const responses = client.responses({ model: 'm', input: 'Hi' });
  const messages = client.messages({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] });
  const images = client.images({ model: 'm', prompt: 'A dot' });

  const seen = [
    await text(chat),
    await text(responses),
    await text(messages),
    (await lastValueFrom(responses.pipe(accumulateToolCalls(), toArray()))).length,
    (await firstValueFrom(chat.pipe(finalUsage()))).totalTokens,
    (await lastValueFrom(images.pipe(finalImages(), toArray()))).length,
    await firstValueFrom(chat.pipe(textDeltas(), take(1))),
  ];
  const refused = await firstValueFrom(
    createLlmClient({ baseUrl: `${process.env.BASE_URL}/nowhere` }).chatCompletions({ model: 'm', messages: [] }),
  ).catch((error) => error);
  seen.push(refused instanceof LlmStreamError && `${refused.name} ${refused.status}`);
  console.log(JSON.stringify(seen));
}
