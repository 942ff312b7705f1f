import Anthropic from '@anthropic-ai/sdk';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { firstValueFrom, lastValueFrom, type Observable, toArray } from 'rxjs';
import {
  createLlmClient,
  pipeServerSentEvents,
  retryBeforeFirstToken,
  textDeltas,
  toServerSentEvents,
  type LlmClient,
  type PipeServerSentEventsOptions,
} from 'rx-llm';
import { chat, messages, responses, sse } from 'rx-llm/testing';

/** A gateway, a server that relays its streams, and whoever reads from that: each hop over real sockets. */
describe('a relay', () => {
  const servers: Server[] = [];

  async function listen(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  }

  /** A server that relays what `ask` asks of a gateway that answers as `gateway` does. */
  async function relay(
    gateway: (response: ServerResponse) => void,
    ask: (client: LlmClient) => Observable<object>,
    options?: PipeServerSentEventsOptions,
  ): Promise<string> {
    const baseUrl = await listen((request, response) => {
      request.resume();
      gateway(response);
    });
    const client = createLlmClient({ baseUrl, apiKey: 'secret' });
    return listen((request, response) => {
      request.resume();
      pipeServerSentEvents(ask(client).pipe(toServerSentEvents()), response, options);
    });
  }

  const stream = (response: ServerResponse, ...chunks: readonly Uint8Array[]): ServerResponse => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks) response.write(chunk);
    return response;
  };
  const json = (response: ServerResponse, status: number, body: object): ServerResponse =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  const askChat = (client: LlmClient): Observable<object> =>
    client.chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
  const askResponses = (client: LlmClient): Observable<object> => client.responses({ model: 'm', input: 'Hi' });
  const askMessages = (client: LlmClient): Observable<object> =>
    client.messages({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] });

  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('gives its reader the events of the gateway', async () => {
    const turn = chat.turn('Hello world', { usage: { prompt_tokens: 9, completion_tokens: 2 } });
    const baseUrl = await relay((response) => stream(response, sse.whole(turn)).end(), askChat);
    const events = await lastValueFrom(askChat(createLlmClient({ baseUrl })).pipe(toArray()));
    expect(events).toEqual(turn);
  });

  it("aborts the gateway's request when its reader leaves in the middle", async () => {
    let closed: Promise<unknown> | undefined;
    const baseUrl = await relay((response) => {
      closed = once(response, 'close');
      stream(response, sse(chat.role(), chat.text('Hello')));
    }, askChat);
    const text = createLlmClient({ baseUrl }).chatCompletions({ model: 'm', messages: [] }).pipe(textDeltas());
    expect(await firstValueFrom(text)).toBe('Hello');
    await closed;
    expect(closed).toBeDefined();
  });

  it('answers with the status of the gateway, and keeps its address and key to itself', async () => {
    const baseUrl = await relay(
      (response) => json(response, 429, { error: { message: 'Slow down', code: 'rate' } }),
      askChat,
    );
    const response = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(429);
    const body = await response.text();
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'rate', message: expect.stringContaining('Slow down') } });
    expect(body).not.toMatch(/127\.0\.0\.1|secret/);
  });

  it('answers with a status where the gateway fails after the preamble, before the first token', async () => {
    const failing = sse(
      responses.created(),
      responses.error({ code: 'rate_limit_exceeded', message: 'Slow down', type: 'rate_limit_error' }),
    );
    const baseUrl = await relay((response) => stream(response, failing).end(), askResponses);
    const response = await fetch(`${baseUrl}/responses`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  });

  it('keeps a permanent failure permanent, so that its reader does not try again', async () => {
    const asked: string[] = [];
    const baseUrl = await relay((response) => {
      asked.push('x');
      json(response, 401, { error: { message: 'Incorrect API key: sk-live-1', code: 'invalid_api_key' } });
    }, askChat);
    const reader = askChat(createLlmClient({ baseUrl })).pipe(retryBeforeFirstToken({ delay: 1 }));
    const failure: unknown = await lastValueFrom(reader).catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 502, code: 'access_denied', retryable: false });
    expect(String(failure)).not.toMatch(/sk-live|Incorrect/);
    expect(asked).toHaveLength(1);
  });

  it("answers without advice for this server's operator, and without the body of whoever answered", async () => {
    const baseUrl = await relay(
      (response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<html>nginx on db-7</html>'),
      askMessages,
    );
    const response = await fetch(`${baseUrl}/messages`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(404);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toEqual({
      type: 'error',
      error: { message: 'The request was refused', type: 'not_found_error', code: 404 },
    });
  });

  it.each([
    ['before', []],
    ['after', [chat.text('Hel')]],
  ])("sends the provider's words alone, relayed twice, of a failure %s the first token", async (_when, events) => {
    const failing = sse(...events, { error: { message: 'The provider disconnected', code: 502 } });
    const first = await relay((response) => stream(response, failing).end(), askChat);
    const second = await listen((request, response) => {
      request.resume();
      pipeServerSentEvents(askChat(createLlmClient({ baseUrl: first })).pipe(toServerSentEvents()), response);
    });
    const failure = await lastValueFrom(askChat(createLlmClient({ baseUrl: second }))).catch((error: unknown) => error);
    const words = events.length > 0 ? 'The provider disconnected' : 'The model failed to answer';
    expect(failure).toMatchObject({ providerMessage: words, code: 502, retryable: true });
  });

  it('lets its reader know of a failure in the middle', async () => {
    const baseUrl = await relay((response) => {
      stream(response, sse(chat.role(), chat.text('Hel')));
      setTimeout(() => response.destroy(), 30);
    }, askChat);
    const seen: string[] = [];
    const failure = new Promise((resolve) => {
      createLlmClient({ baseUrl })
        .chatCompletions({ model: 'm', messages: [] })
        .pipe(textDeltas())
        .subscribe({ next: (text) => seen.push(text), error: resolve });
    });
    expect(await failure).toMatchObject({ name: 'StreamEventError', code: 'truncated', tokenSeen: true });
    expect(seen).toEqual(['Hel']);
  });

  describe('read by the SDKs', () => {
    const openai = (baseURL: string): OpenAI => new OpenAI({ baseURL, apiKey: 'key', maxRetries: 0 });

    async function collect(events: AsyncIterable<unknown>): Promise<{ seen: unknown[]; error?: unknown }> {
      const seen: unknown[] = [];
      try {
        for await (const event of events) seen.push(event);
      } catch (error) {
        return { seen, error };
      }
      return { seen };
    }

    it.each([
      {
        name: 'a chat',
        ask: askChat,
        token: chat.text('Hel'),
        read: (url: string) => openai(url).chat.completions.create({ model: 'm', messages: [], stream: true }),
        raised: OpenAI.APIError,
      },
      {
        name: 'a response',
        ask: askResponses,
        token: responses.text('Hel'),
        read: (url: string) => openai(url).responses.create({ model: 'm', input: '', stream: true }),
        raised: OpenAI.APIError,
      },
      {
        name: 'a message',
        ask: askMessages,
        token: messages.text('Hel'),
        read: (url: string) =>
          new Anthropic({ baseURL: url.replace(/\/v1$/, ''), apiKey: 'key', maxRetries: 0 }).messages.create({
            model: 'm',
            max_tokens: 9,
            messages: [{ role: 'user', content: 'Hi' }],
            stream: true,
          }),
        raised: Anthropic.APIError,
      },
    ])('raises the failure of $name in the middle', async ({ ask, token, read, raised }) => {
      const baseUrl = await relay((response) => stream(response, sse(token)).end(), ask);
      const { seen, error } = await collect(await read(baseUrl));
      expect(seen).toEqual([token]);
      expect(error).toBeInstanceOf(raised);
      expect(String(error)).toContain('The answer broke off before it was complete');
    });

    it('completes with what the gateway sent', async () => {
      const turn = messages.turn('Hello world');
      const baseUrl = await relay((response) => stream(response, sse.whole(turn)).end(), askMessages);
      const client = new Anthropic({ baseURL: baseUrl.replace(/\/v1$/, ''), apiKey: 'key' });
      const { seen, error } = await collect(
        await client.messages.create({
          model: 'm',
          max_tokens: 9,
          messages: [{ role: 'user', content: 'Hi' }],
          stream: true,
        }),
      );
      expect(error).toBeUndefined();
      expect(seen).toEqual(turn);
    });
  });
});
