import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLlmClient } from 'rx-llm';
import { randomWrites, seeded } from './support/cases.js';
import { ExchangeServer } from './support/exchange-server.js';
import { open, readRecorded, record, type Reading, type WireName } from './support/reading.js';

// Streams and error answers that other projects recorded: not part of this repository, read where they are present.
const folder = join(__dirname, '..', '..', '..', 'shared');
const corpus = join(folder, 'corpus');
const present = existsSync(join(corpus, 'manifest.json'));

interface Row {
  readonly file: string;
  readonly expectedFile: string;
  readonly endpoint: WireName;
}

interface Expected {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  readonly finishReason: string | null;
  readonly usage: { readonly outputTokens?: number | null } | null;
  readonly error: { readonly type?: string | null } | null;
  readonly terminal: string | null;
  readonly unconfirmed: readonly string[];
  readonly ambiguous: readonly (string | { readonly field?: string })[];
}

let server: ExchangeServer;

beforeAll(async () => {
  server = await ExchangeServer.start();
});

afterAll(async () => {
  await server.close();
});

function doubts({ unconfirmed, ambiguous }: Expected): string {
  return JSON.stringify([unconfirmed, ambiguous]);
}

function differences(expected: Expected, reading: Reading): string[] {
  const doubt = doubts(expected);
  const found: string[] = [];
  const compare = (field: string, wanted: unknown, actual: unknown): void => {
    if (JSON.stringify(wanted) !== JSON.stringify(actual) && !doubt.includes(field)) {
      found.push(
        `${field}: ${JSON.stringify(wanted)?.slice(0, 300)} was read as ${JSON.stringify(actual)?.slice(0, 300)}`,
      );
    }
  };
  compare('text', expected.text, reading.text);
  compare('reasoning', expected.reasoning, reading.reasoning);
  compareFinish(expected, reading, compare);
  const calls = (list: readonly { name: string; arguments: string }[]): string[] =>
    list.map((call) => `${call.name}(${asJson(call.arguments)})`).sort();
  compare('toolCalls', calls(expected.toolCalls), calls(reading.toolCalls));
  if (expected.usage?.outputTokens != null) compare('usage', expected.usage.outputTokens, reading.usage?.outputTokens);
  const kind = (reading.error as { kind?: string } | undefined)?.kind;
  compare(
    'error',
    expected.error?.type === 'malformed' ? 'malformed' : expected.error !== null,
    kind === 'malformed' ? kind : kind === 'in-band',
  );
  return found;
}

/** For Responses these files give the status; `finishReason()` says why it is `incomplete`, and knows a status by its event. */
function compareFinish(
  { finishReason }: Expected,
  reading: Reading,
  compare: (field: string, wanted: unknown, actual: unknown) => void,
): void {
  const last = reading.events.at(-1);
  if (typeof last?.type !== 'string' || !last.type.startsWith('response.'))
    compare('finishReason', finishReason, reading.finishReason);
  else if (finishReason !== null && finishReason !== 'incomplete')
    compare('finishReason', finishReason, reading.finishReason);
}

function asJson(text: string): string {
  try {
    return JSON.stringify(text === '' ? {} : JSON.parse(text));
  } catch {
    return text;
  }
}

(present ? describe : describe.skip)('recorded streams, from ../shared/corpus where it is present', () => {
  const rows = present ? (JSON.parse(readFileSync(join(corpus, 'manifest.json'), 'utf8')) as Row[]) : [];

  test.each(rows.map((row) => [row.file, row] as const))('%s', async (_, row) => {
    const body = readFileSync(join(corpus, row.file));
    const expected = JSON.parse(readFileSync(join(corpus, row.expectedFile), 'utf8')) as Expected;
    server.play({ body, writes: randomWrites(body.length, seeded(body.length), 900) });
    const { values, error } = await record(
      open(createLlmClient({ baseUrl: server.url }), row.endpoint, { model: 'm' }),
    );
    expect(differences(expected, readRecorded(values, error))).toEqual([]);
  });
});

interface ErrorAnswer {
  readonly endpoint: WireName;
  readonly provider: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  readonly body: string;
}

(present ? describe : describe.skip)(
  'recorded error answers, from ../shared/http-errors.json where it is present',
  () => {
    const answers = present
      ? (JSON.parse(readFileSync(join(folder, 'http-errors.json'), 'utf8')) as ErrorAnswer[])
      : [];

    test.each(answers.map((answer, index) => [`${index} ${answer.provider} ${answer.status}`, answer] as const))(
      '%s',
      async (_, answer) => {
        const headers: Record<string, string> = {};
        if (answer.contentType !== null) headers['content-type'] = answer.contentType;
        if (answer.retryAfter !== null) headers['retry-after'] = answer.retryAfter;
        server.play({ status: answer.status, headers, body: Buffer.from(answer.body) });
        const client = createLlmClient({ baseUrl: server.url });
        const { values, error } = await record(
          open(client, ENDPOINTS.includes(answer.endpoint) ? answer.endpoint : 'chat', { model: 'm' }),
        );
        expect(values).toEqual([]);
        const { kind, status, message, code } = error as Error & Record<string, unknown>;
        expect({ kind, status }).toEqual({ kind: 'http', status: answer.status });
        expect(code).toBeDefined();
        const said = /"message"\s*:\s*"([^"\\]{1,60})/.exec(answer.body)?.[1];
        if (said !== undefined) expect(message).toContain(said.trimEnd().replace(/\.$/, ''));
      },
    );
  },
);

const ENDPOINTS: readonly string[] = ['chat', 'responses', 'messages', 'images'];
