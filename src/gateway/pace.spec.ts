import { connect } from 'node:net';
import { startGateway, type Gateway } from './index.js';
import { parsePace } from './pace.js';
import { call, chat, eventsOf, jsonOf } from '../spec/support/gateway-client.js';

let gateway: Gateway;
beforeAll(async () => void (gateway = await startGateway()));
afterAll(() => gateway.close());

const PATH = '/v1/chat/completions';
const paced = (pace: string, body = chat('Count to 20'), leave?: (text: string) => boolean) =>
  call(gateway.url, PATH, { body, headers: { 'x-gateway-pace': pace }, ...(leave ? { leave } : {}) });

describe('the pace', () => {
  it('holds the first token back', async () => {
    await paced('ttft=120');
    expect(gateway.journal.at(-1)?.firstTokenMs).toBeGreaterThanOrEqual(115);
  });

  it('keeps to its tokens per second', async () => {
    await paced('tps=200');
    const { tokensDelivered = 0, endedMs = 0, firstTokenMs = 0 } = gateway.journal.at(-1) ?? {};
    const due = ((tokensDelivered - 1) / 200) * 1000;
    expect(endedMs - firstTokenMs).toBeGreaterThan(due * 0.85);
    expect(endedMs - firstTokenMs).toBeLessThan(due * 3 + 500);
  });

  it('holds a whole answer back as long as it would have streamed', async () => {
    await paced('ttft=50; tps=400', { ...chat('Count to 20'), stream: false });
    const { tokensPlanned = 0, endedMs = 0 } = gateway.journal.at(-1) ?? {};
    expect(endedMs).toBeGreaterThanOrEqual(45 + ((tokensPlanned - 1) / 400) * 1000 * 0.9);
  });

  it('keeps comments coming while the client waits', async () => {
    const own = await startGateway({ keepAliveMs: 20, dialect: 'b' });
    const reply = await call(own.url, PATH, { body: chat('Hi'), headers: { 'x-gateway-pace': 'ttft=90' } });
    await own.close();
    const [before = ''] = reply.text.split('data: {"id"', 1);
    expect(before.match(/^: keepalive$/gm)).toHaveLength(1);
    const [waiting = ''] = reply.text.split('"content":"S', 1);
    expect((waiting.match(/^: keepalive$/gm) ?? []).length).toBeGreaterThanOrEqual(3);
  });

  it('reads its words', () => {
    expect(parsePace('ttft=200; tps=40; jitter=0.3; split=3')).toEqual({
      ttftMs: 200,
      tokensPerSecond: 40,
      jitter: 0.3,
      writes: { split: 3 },
    });
    for (const words of ['tps=0', 'tps=', 'jitter=2', 'writes=word', 'coalesce=0'])
      expect(() => parsePace(words)).toThrow(TypeError);
  });
});

describe('writes', () => {
  const TEXT = 'Say "日本語 🍵 naïve 👩‍👩‍👧"';
  const text = (reply: { text: string }) =>
    jsonOf(reply.text)
      .map((chunk) => (chunk['choices'] as { delta: { content?: string } }[])[0]?.delta.content ?? '')
      .join('');

  it('of single bytes arrive whole', async () => {
    const reply = await paced('writes=byte', chat(TEXT));
    expect(text(reply)).toBe('日本語 🍵 naïve 👩‍👩‍👧');
    expect(reply.chunks.length).toBeGreaterThan(20);
  });

  it('that are split cut through characters', async () => {
    const reply = await paced('split=5', chat(TEXT));
    expect(text(reply)).toBe('日本語 🍵 naïve 👩‍👩‍👧');
    expect(reply.chunks.some((chunk) => chunk.toString('utf8').includes('\uFFFD'))).toBe(true);
  });

  it('that are coalesced hold several frames, and the journal counts what went out', async () => {
    const reply = await paced('coalesce=10; tps=500', chat('Count to 30'));
    expect(reply.chunks.length).toBeLessThan(eventsOf(reply.text).length / 3);
    expect(gateway.journal.at(-1)).toMatchObject({
      outcome: 'completed',
      tokensDelivered: gateway.journal.at(-1)?.tokensPlanned,
    });
  });
});

describe('a client that does not read', () => {
  it('holds the answer back instead of filling the gateway’s memory', async () => {
    const body = JSON.stringify(chat(`Repeat: ${'word '.repeat(200_000)}`));
    const head = `POST ${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\nx-gateway-pace: coalesce=500`;
    const requests = gateway.journal.length;
    const socket = connect(gateway.port, '127.0.0.1');
    socket.pause();
    socket.write(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const entry = await until(() => gateway.journal[requests]);
    await until(() => entry.bytesDelivered > 100_000);
    let before = -1;
    await until(() => {
      const still = before === entry.bytesDelivered;
      before = entry.bytesDelivered;
      return still;
    }, 300);
    expect(entry.outcome).toBe('open');
    expect(entry.tokensDelivered).toBeLessThan(entry.tokensPlanned * 0.7);
    socket.destroy();
    await gateway.idle();
    expect(entry.outcome).toBe('hung-up');
  }, 20_000);
});

async function until<T>(probe: () => T | undefined | false, everyMs = 20): Promise<T> {
  for (let i = 0; i < 300; i++) {
    const value = probe();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error('It never came to that');
}
