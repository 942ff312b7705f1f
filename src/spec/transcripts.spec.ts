import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createLlmClient } from 'rx-llm';
import { DATA, randomWrites, seeded } from './support/cases.js';
import { ExchangeServer } from './support/exchange-server.js';
import { open, readRecorded, record, type Reading, type WireName } from './support/reading.js';

interface Expected {
  readonly endpoint: WireName;
  readonly jsonEventCount: number;
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly toolCalls: readonly {
    readonly choice: number;
    readonly id: string;
    readonly name: string;
    readonly arguments: unknown;
  }[];
  readonly finishReasonRaw: string | null;
  readonly usage: Readonly<Record<string, number | null>> | null;
  readonly error: {
    readonly message: string;
    readonly code: string | number | null;
    readonly type: string | null;
  } | null;
  readonly terminal: string;
}

interface HttpAnswer {
  readonly name: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly expected: {
    readonly error?: { readonly message: string | null; readonly code: string | null };
    readonly contentType?: string;
    readonly retryable: boolean;
    readonly requestId?: string | null;
  };
}

const folder = join(DATA, 'transcripts');
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.sse'))
  .map((name) => name.slice(0, -4));

let server: ExchangeServer;

beforeAll(async () => {
  server = await ExchangeServer.start();
});

afterAll(async () => {
  await server.close();
});

async function read(endpoint: WireName): Promise<Reading> {
  const { values, error } = await record(open(createLlmClient({ baseUrl: server.url }), endpoint, { model: 'm' }));
  return readRecorded(values, error);
}

function check(expected: Expected, reading: Reading): void {
  expect(reading).toMatchObject({
    text: expected.text,
    reasoning: expected.reasoning,
    refusal: expected.refusal ?? '',
  });
  // Images have events, but no word for how they ended.
  if (expected.endpoint !== 'images') expect(reading.finishReason).toBe(expected.finishReasonRaw);
  const calls = reading.toolCalls.filter(({ valid }) => valid).map(({ name, input }) => ({ name, input }));
  const wanted = expected.toolCalls.filter((call) => call.arguments !== null && call.choice === 0);
  expect(calls).toEqual(wanted.map((call) => ({ name: call.name, input: call.arguments })));
  for (const [name, count] of Object.entries(expected.usage ?? {})) {
    expect([name, reading.usage?.[name as keyof typeof reading.usage] ?? null]).toEqual([name, count]);
  }
  if (expected.error) {
    expect(reading.error).toMatchObject({ kind: 'in-band' });
    const { message, code } = reading.error as Error & { code?: unknown };
    // Without a code of its own a failure goes by its type.
    expect(String(code ?? null)).toBe(String(expected.error.code ?? expected.error.type));
    expect(message).toContain(expected.error.message.replace(/\.$/, ''));
  } else if (expected.terminal === 'eof') expect(reading.error).toMatchObject({ kind: 'truncated' });
  else expect(reading.error).toBeUndefined();
}

describe.each(names)('%s', (name) => {
  const body = readFileSync(join(folder, `${name}.sse`));
  const expected = JSON.parse(readFileSync(join(folder, `${name}.expected.json`), 'utf8')) as Expected;

  test('in one write', async () => {
    server.play({ body });
    check(expected, await read(expected.endpoint));
  });

  test('in random writes, byte by byte at the start', async () => {
    const random = seeded(name.length);
    server.play({ body, writes: [...Array<number>(40).fill(1), ...randomWrites(body.length, random)] });
    check(expected, await read(expected.endpoint));
  });
});

describe('answers that are no event stream', () => {
  const files = readdirSync(join(folder, 'http'));
  test.each(files)('%s', async (file) => {
    const answer = JSON.parse(readFileSync(join(folder, 'http', file), 'utf8')) as HttpAnswer;
    server.play({ status: answer.status, headers: answer.headers, body: Buffer.from(answer.body) });
    const { error } = await read('chat');
    const { message, code, retryable, requestId, kind } = error as Error & Record<string, unknown>;
    const wanted = answer.expected;
    expect(kind).toBe('http');
    expect(message).toContain(wanted.error?.message?.replace(/\.$/, '') ?? wanted.contentType ?? '');
    if (wanted.error?.code) expect(String(code)).toBe(wanted.error.code);
    expect({ retryable, requestId: requestId ?? null }).toEqual({
      retryable: wanted.retryable,
      requestId: wanted.requestId ?? null,
    });
  });
});
