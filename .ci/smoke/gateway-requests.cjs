// Requests over a socket, as an integration test of an application sends them. The runner and the modules are given, so that
// each of those who call it has taken them in its own way.
module.exports = function requests({ runner, library, gatewayLibrary, rxjs }) {
  const { afterAll, beforeAll, expect, test } = runner;
  const { createLlmClient, textDeltas } = library;
  const { startGateway } = gatewayLibrary;
  const { firstValueFrom, Subject, toArray } = rxjs;

  const ask = (baseUrl) => {
    const messages = [{ role: 'user', content: 'Say "Grüß dich 😀"' }];
    return createLlmClient({ baseUrl, apiKey: 'any' }).chatCompletions({ model: 'm', messages }).pipe(textDeltas());
  };
  const ended = new Subject();
  let gateway;

  beforeAll(async () => {
    gateway = await startGateway({ onEnd: (entry) => ended.next(entry.outcome) });
  });
  afterAll(() => gateway.close());

  test('text comes over the wire', async () => {
    const text = await firstValueFrom(ask(gateway.url).pipe(toArray()));
    expect(text.join('')).toBe('Grüß dich 😀');
  });

  test('a refusal of the gateway says why', async () => {
    gateway.script('429; retry-after=2');
    const refusal = { kind: 'http', status: 429, retryAfterMs: 2000 };
    await expect(firstValueFrom(ask(gateway.url))).rejects.toMatchObject(refusal);
  });

  test('a port where nobody listens refuses the connection', async () => {
    const gone = await startGateway();
    await gone.close();
    await expect(firstValueFrom(ask(gone.url))).rejects.toMatchObject({ kind: 'connection' });
  });

  test('a reader who leaves hangs up', async () => {
    gateway.script('stall=1');
    const outcome = firstValueFrom(ended);
    await firstValueFrom(ask(gateway.url));
    expect(await outcome).toBe('hung-up');
  });
};
