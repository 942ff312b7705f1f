import { createLlmClient, retryBeforeFirstToken, textDeltas } from 'rx-llm';
import { firstValueFrom, lastValueFrom, take, toArray } from 'rxjs';
import { startGateway, type Gateway, type JournalEntry } from './index.js';
import { call, chat } from '../spec/support/gateway-client.js';

let gateway: Gateway;
let ended: JournalEntry[];
beforeEach(async () => {
  ended = [];
  gateway = await startGateway({ onEnd: (entry) => ended.push(entry) });
});
afterEach(() => gateway.close());

const PATH = '/v1/chat/completions';
const SECRET = 'sk-very-secret-key-abcd';
const ask = { model: 'vendor/leaf-1', messages: [{ role: 'user' as const, content: 'Write a long story' }] };

describe('the journal', () => {
  it('tells what was asked and how it went', async () => {
    await call(gateway.url, PATH, { body: chat('Hi'), headers: { 'idempotency-key': 'k1' } });
    expect(gateway.journal).toHaveLength(1);
    const [entry] = gateway.journal;
    expect(entry).toMatchObject({
      number: 1,
      method: 'POST',
      path: PATH,
      endpoint: 'chatCompletions',
      dialect: 'a',
      idempotencyKey: 'k1',
      streamed: true,
      status: 200,
      outcome: 'completed',
      hungUpMs: undefined,
      body: { model: 'vendor/leaf-1', stream: true },
    });
    expect(entry?.tokensDelivered).toBe(entry?.tokensPlanned);
    expect(entry?.endedMs).toBeGreaterThanOrEqual(entry?.firstTokenMs ?? Infinity);
    expect(ended).toEqual([entry]);
  });

  it('keeps no key', async () => {
    for (const name of ['authorization', 'x-api-key', 'api-key', 'cookie']) {
      await call(gateway.url, PATH, {
        body: chat('Hi'),
        headers: { authorization: 'Bearer k', [name]: name === 'authorization' ? `Bearer ${SECRET}` : SECRET },
      });
    }
    expect(JSON.stringify(gateway.journal)).not.toContain('secret');
    expect(gateway.journal[0]?.headers['authorization']).toBe('Bearer ***abcd');
    expect(gateway.journal[1]?.headers['x-api-key']).toBe('***abcd');
  });

  it('is served to those with a key', async () => {
    await call(gateway.url, PATH, { body: chat('Hi') });
    const reply = await call(gateway.url, '/journal', { method: 'GET' });
    expect((JSON.parse(reply.text) as { data: JournalEntry[] }).data[0]).toMatchObject({
      path: PATH,
      outcome: 'completed',
    });
    expect((await call(gateway.url, '/journal', { method: 'GET', headers: { authorization: '' } })).status).toBe(401);
  });

  it('keeps the newest entries', async () => {
    const small = await startGateway({ journalLimit: 2 });
    for (let i = 0; i < 4; i++) await call(small.url, '/v1/models', { method: 'GET' });
    expect(small.journal.map(({ number }) => number)).toEqual([3, 4]);
    await small.close();
  });
});

describe('an abort', () => {
  it('is noticed at once and bills only what was delivered', async () => {
    const client = createLlmClient({ baseUrl: gateway.url, apiKey: SECRET, headers: { 'x-gateway-pace': 'tps=100' } });
    const started = Date.now();
    const words = await firstValueFrom(client.chatCompletions(ask).pipe(textDeltas(), take(5), toArray()));
    const left = Date.now() - started;
    await gateway.idle();
    const [entry] = gateway.journal;
    expect(words).toHaveLength(5);
    expect(entry).toMatchObject({ outcome: 'hung-up', status: 200 });
    expect(entry?.tokensDelivered).toBeGreaterThanOrEqual(5);
    expect(entry?.tokensDelivered).toBeLessThan(60);
    expect(entry?.tokensPlanned).toBeGreaterThan(100);
    expect(entry?.hungUpMs).toBeLessThan(left + 500);
    const { inputTokens = 0, outputTokens = 0, costUsd } = entry?.billed ?? {};
    expect(outputTokens).toBe(entry?.tokensDelivered);
    expect(costUsd).toBeCloseTo((inputTokens * 0.3 + outputTokens * 1.2) / 1e6, 8);
  });

  it('before the first token costs nothing', async () => {
    await call(gateway.url, PATH, {
      body: chat('Hi'),
      headers: { 'x-gateway-pace': 'ttft=5000' },
      leave: (text) => text.includes('assistant'),
    });
    await gateway.idle();
    expect(gateway.journal[0]).toMatchObject({ outcome: 'hung-up', tokensDelivered: 0, billed: undefined });
  });

  it('while a whole answer is awaited costs nothing either', async () => {
    const client = fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'x-gateway-pace': 'ttft=5000' },
      body: JSON.stringify({ ...chat('Hi'), stream: false }),
      signal: AbortSignal.timeout(100),
    });
    await expect(client).rejects.toThrow();
    await gateway.idle();
    expect(gateway.journal[0]).toMatchObject({ outcome: 'hung-up', billed: undefined });
    expect(gateway.journal[0]?.hungUpMs).toBeLessThan(3000);
  });
});

describe('retries', () => {
  it('show one idempotency key for all tries of one subscription, and another for the next', async () => {
    gateway.script('503; retry-after-ms=1', 'error', null);
    const client = createLlmClient({ baseUrl: gateway.url, apiKey: SECRET });
    const answer$ = client.chatCompletions(ask).pipe(retryBeforeFirstToken({ delay: 1 }), textDeltas(), toArray());
    expect((await lastValueFrom(answer$)).length).toBeGreaterThan(50);
    await lastValueFrom(answer$);
    const keys = gateway.journal.map((entry) => entry.idempotencyKey);
    expect(keys).toHaveLength(4);
    expect(new Set(keys.slice(0, 3)).size).toBe(1);
    expect(keys[3]).not.toBe(keys[0]);
    expect(gateway.journal.map(({ attempt, outcome, billed }) => [attempt, outcome, billed !== undefined])).toEqual([
      [1, 'refused', false],
      [2, 'broken', false],
      [3, 'completed', true],
      [1, 'completed', true],
    ]);
  });
});

describe('close', () => {
  it('ends answers that run and connections that are open', async () => {
    const running = call(gateway.url, PATH, { body: chat('Hi'), headers: { 'x-gateway-fault': 'stall=1' } });
    while ((gateway.journal[0]?.tokensDelivered ?? 0) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await gateway.close();
    expect((await running).error).toBe('ECONNRESET');
    expect(gateway.journal[0]).toMatchObject({ outcome: 'closed', tokensDelivered: 1 });
    await expect(fetch(`${gateway.url}/models`)).rejects.toThrow();
    await gateway.close();
  });
});
