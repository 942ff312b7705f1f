import { firstValueFrom } from 'rxjs';
import { ConnectionError, createLlmClient, fetchTransport } from 'rx-llm';

const ask = (fetch: () => Promise<unknown>): Promise<unknown> => {
  const transport = fetchTransport({ fetch: fetch as () => Promise<Response> });
  const client = createLlmClient({ baseUrl: 'https://gateway.example/v1', transport });
  return firstValueFrom(client.chatCompletions({ model: 'm', messages: [] }));
};

describe('fetchTransport with a fetch of one’s own', () => {
  it.each([
    ['is nothing', undefined],
    ['has no headers', { status: 200 }],
  ])('errors when what it gives %s', async (_, response) => {
    await expect(ask(() => Promise.resolve(response))).rejects.toThrow(ConnectionError);
  });

  it('errors when it throws instead of rejecting', async () => {
    const broken = (): never => {
      throw new TypeError('no fetch here');
    };
    await expect(ask(broken)).rejects.toThrow(ConnectionError);
  });
});
