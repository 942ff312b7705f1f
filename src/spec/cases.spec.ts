import { LlmStreamError, createLlmClient, retryBeforeFirstToken, textDeltas, type EndpointName } from 'rx-llm';
import { from, take, type Observable } from 'rxjs';
import { setTimeout as delay } from 'node:timers/promises';
import { exchangeOf, loadCases, randomWrites, seeded, type Case } from './support/cases.js';
import { ExchangeServer } from './support/exchange-server.js';
import { ENDPOINT, open, readRecorded, record, type Reading } from './support/reading.js';

const cases = loadCases();

let server: ExchangeServer;
let other: ExchangeServer;

beforeAll(async () => {
  server = await ExchangeServer.start();
  other = await ExchangeServer.start();
});

afterAll(async () => {
  await server.close();
  await other.close();
});

function play(given: Case, writes?: (length: number) => number[]): void {
  const exchanges = [given, ...(given.attempts ?? []).filter(({ origin }) => origin === undefined)].map((answer) => {
    const exchange = exchangeOf(answer, other.url);
    return writes ? { ...exchange, writes: writes(exchange.body?.length ?? 0) } : exchange;
  });
  server.play(...exchanges);
  other.play({ body: Buffer.from('') });
}

async function run(given: Case): Promise<Reading> {
  const { client: how = {}, endpoint } = given;
  const idleMs = how.idleTimeoutMs;
  const client = createLlmClient({
    baseUrl: `${server.url}/v1`,
    apiKey: 'key',
    ...(idleMs !== undefined && { timeouts: { idleMs } }),
  });
  const signal = how.preAborted ? AbortSignal.abort() : undefined;
  let source: Observable<object> = signal
    ? client.chatCompletions({ model: 'm', messages: [] }, { signal })
    : open(client, endpoint, { model: 'm' });
  if (how.operator === 'retryBeforeFirstToken') {
    source = source.pipe(
      retryBeforeFirstToken({
        count: how.count ?? 2,
        ...(how.baseDelayMs !== undefined && { delay: how.baseDelayMs }),
      }),
    );
  }
  if (how.take !== undefined) {
    const { values } = await record((source as Observable<never>).pipe(textDeltas(), take(how.take)));
    return { ...readRecorded([], undefined), text: values.join('') };
  }
  for (let again = 1; again < (how.subscribeTimes ?? 1); again++) await record(source);
  const { values, error } = await record(source);
  if (how.observeMs) await delay(how.observeMs);
  return readRecorded(values, error);
}

function check(given: Case, reading: Reading): void {
  const { expect: wanted, free = [], mustNot } = given;
  expect(reading.text).toBe(wanted.text);
  expect(reading.reasoning).toBe(wanted.reasoning);
  expect(reading.refusal).toBe(wanted.refusal ?? '');
  if (given.client?.take === undefined) expect(reading.finishReason).toBe(wanted.finishReason);
  checkCalls(given, reading);
  if (wanted.usage && !free.includes('usage')) {
    for (const [name, count] of Object.entries(wanted.usage)) {
      expect([name, reading.usage?.[name as keyof typeof reading.usage] ?? null]).toEqual([name, count]);
    }
  }
  checkError(given, reading);
  if (wanted.events !== undefined) expect(reading.events).toHaveLength(wanted.events);
  if (wanted.eventsBeforeError !== undefined) {
    expect([wanted.eventsBeforeError, wanted.eventsBeforeError + 1]).toContain(reading.events.length);
  }
  if (wanted.images) {
    const count = (suffix: string): number => reading.events.filter(({ type }) => String(type).endsWith(suffix)).length;
    expect({ partials: count('.partial_image'), completed: count('.completed') }).toMatchObject({
      partials: wanted.images.partials,
      completed: wanted.images.completed,
    });
  }
  for (const { index, text } of wanted.choices ?? []) {
    const pieces: string[] = [];
    from(reading.events as never[])
      .pipe(textDeltas({ choice: index }))
      .subscribe((piece) => pieces.push(piece));
    expect(pieces.join('')).toBe(text);
  }
  if (mustNot?.textContains) expect(reading.text).not.toContain(mustNot.textContains);
  for (const text of mustNot?.argumentsEqual ?? [])
    expect(reading.toolCalls.map((call) => call.arguments)).not.toContain(text);
}

function checkCalls({ expect: wanted, free = [] }: Case, reading: Reading): void {
  const plain = (call: { id?: string | null; name: string; arguments: string }, index: number): object => ({
    id: free.includes(`toolCalls.${index}.id`) ? undefined : call.id,
    name: call.name,
    arguments: asJson(call.arguments),
  });
  const sorted = (calls: readonly { id?: string | null; name: string; arguments: string }[]): object[] =>
    [...calls].sort((a, b) => `${a.id ?? ''}${a.name}`.localeCompare(`${b.id ?? ''}${b.name}`)).map(plain);
  // A call that was cut is left out, or comes raw and flagged; the text of a custom tool is whole as it stands.
  const whole = wanted.toolCalls.filter((call) => call.custom || typeof asJson(call.arguments) === 'object');
  expect(sorted(reading.toolCalls.filter(({ valid }) => valid))).toEqual(sorted(whole));
  const broken = wanted.toolCalls.filter((call) => !whole.includes(call)).map((call) => call.arguments);
  for (const call of reading.toolCalls.filter(({ valid }) => !valid)) expect(broken).toContain(call.arguments);
  expect(sorted(reading.snapshot.filter(({ complete, valid }) => complete && valid))).toEqual(sorted(whole));
}

function asJson(text: string): unknown {
  try {
    return text === '' ? {} : (JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}

function checkError({ expect: { error: wanted }, free = [], endpoint }: Case, { error }: Reading): void {
  if (wanted === null) {
    expect(error).toBeUndefined();
    return;
  }
  const actual = error as Error & { kind?: string; code?: string | number; endpoint?: EndpointName };
  if (wanted.name !== undefined) {
    expect(actual.name).toBe(wanted.name);
    return;
  }
  expect(actual).toBeInstanceOf(LlmStreamError);
  expect(actual.endpoint).toBe(ENDPOINT[endpoint]);
  if (!free.includes('error.kind')) expect(actual.kind).toBe(wanted.kind);
  if (!free.includes('error.code')) expect(actual.code ?? null).toBe(wanted.code);
  if (wanted.messageContains !== null) expect(actual.message).toContain(wanted.messageContains);
}

async function checkServer({ expect: { server: wanted } }: Case): Promise<void> {
  if (!wanted) return;
  if (wanted.requests !== undefined) expect(server.requests).toHaveLength(wanted.requests);
  if (wanted.connectionClosedByClient) {
    for (let waited = 0; waited < 400 && !server.requests[0]?.left; waited++) await delay(5);
    expect(server.requests[0]?.left).toBe(true);
  }
  const [first, second] = server.requests;
  if (wanted.minDelayMs !== undefined && first && second)
    expect(second.at - first.at).toBeGreaterThanOrEqual(wanted.minDelayMs);
  if (wanted.maxDelayMs !== undefined && first && second)
    expect(second.at - first.at).toBeLessThanOrEqual(wanted.maxDelayMs);
  if (wanted.headersAbsentAtOtherOrigin) expect(other.requests).toHaveLength(0);
}

// The HttpClient transport has its own tests.
const overHttp = cases.filter(({ client }) => client?.transport === undefined);

describe('the cases, in the writes that they name', () => {
  test.each(overHttp.map((given) => [given.id, given] as const))('%s', async (_, given) => {
    play(given);
    const reading = await run(given);
    check(given, reading);
    await checkServer(given);
  });
});

describe('the cases, in random writes', () => {
  const quick = overHttp.filter(({ client, keepOpen, attempts }) => !client && !keepOpen && !attempts);
  test.each(quick.map((given) => [given.id, given] as const))('%s', async (_, given) => {
    const random = seeded(given.id.length + given.id.charCodeAt(0));
    play(given, (length) => randomWrites(length, random));
    check(given, await run(given));
  });
});
