// Fuzzes the way of the bytes: mutated streams, in random chunks, through the client of dist/ and the operators over
// what it emits. V8's own block coverage says which inputs reached something new; those are mutated further.
//
// Nothing may crash, hang, emit after the end, depend on how the bytes were cut, or fail with anything but an
// LlmStreamError. What does is written to reports/ and can be run again: `npm run fuzz -- --input FILE`.
//
// `npm run fuzz -- --minutes 10 --seed 7`. Reads dist/, so build first.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { from, Observable } from 'rxjs';
import { Failed, fromRoot, main } from './lib.mjs';

const { values: args } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1e6) },
    input: { type: 'string' },
  },
});

const lib = await import('../dist/esm/index.node.js');
const names = ['chatCompletions', 'responses', 'messages', 'images'];
const operators = [
  lib.textDeltas(),
  lib.reasoningDeltas(),
  lib.refusalDeltas(),
  lib.annotations(),
  lib.accumulateText(),
  lib.accumulateToolCalls({ partialInput: true }),
  lib.toolCalls(),
  lib.finalUsage(),
  lib.finalReceipt(),
  lib.finishReason(),
  lib.accumulateMessage(),
  lib.partialImages(),
  lib.finalImages(),
  lib.streamState(),
  lib.toServerSentEvents(),
];

const LONGEST = 6000;
const SLOW_MS = 2000;
const BATCH = 40;
const WORDS = [
  ...[
    '\n',
    '\n\n',
    '\r',
    '\r\n',
    'data: ',
    'data:',
    'event: error\n',
    'event: ping\n',
    'id: 1\n',
    ': c\n',
    '\uFEFF',
    '\0',
    '€',
    '😀',
  ],
  ...[
    '[DONE]',
    'null',
    'true',
    '-1',
    '1e999',
    '""',
    '{}',
    '[]',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\\ud83d',
    '\\u0000',
  ],
  ...[
    '"type":"error",',
    '"error":{"message":"m","code":529}',
    '"choices":[',
    '"delta":{',
    '"index":0,',
    '"index":null,',
    '"usage":{',
  ],
  ...[
    '"finish_reason":"stop"',
    '"finish_reason":"error"',
    '"tool_calls":[',
    '"arguments":"{"',
    '"__proto__":{"a":1}',
    '"item_id":"x"',
  ],
  ...[
    '"response.completed"',
    '"response.failed"',
    '"response.done"',
    '"message_stop"',
    '"content_block_start"',
    '"output_index":1',
  ],
];

const random = seeded(Number(args.seed));
const below = (n) => Math.floor(random() * n);
const oneOf = (list) => list[below(list.length)];

/** The blocks of dist/ that have run, by V8's precise coverage. */
class Coverage {
  #session = new Session();
  #seen = new Map();

  constructor() {
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  get size() {
    return this.#seen.size;
  }

  /** Whether something ran that never had, since the last look. */
  grew() {
    let grew = false;
    for (const block of this.#take()) {
      if (!this.#seen.has(block)) {
        this.#seen.set(block, 0);
        grew = true;
      }
    }
    return grew;
  }

  /** Whether something ran that few of the kept inputs reach. */
  isRare() {
    let rare = false;
    for (const block of this.#take()) {
      const count = this.#seen.get(block) ?? 0;
      if (count === 0) rare = true;
      this.#seen.set(block, count + 1);
    }
    return rare;
  }

  stop() {
    this.#session.disconnect();
  }

  *#take() {
    for (const { url, scriptId, functions } of this.#post('Profiler.takePreciseCoverage').result) {
      if (!url.includes('/dist/esm/')) continue;
      for (const { ranges } of functions) {
        for (const { count, startOffset, endOffset } of ranges) {
          if (count > 0) yield `${scriptId}:${startOffset}:${endOffset}`;
        }
      }
    }
  }

  /** The session of one's own thread answers at once. */
  #post(method, params) {
    let answer;
    this.#session.post(method, params, (error, result) => {
      if (error) throw error;
      answer = result;
    });
    return answer;
  }
}

await main(async () => {
  if (args.input) {
    const bytes = readFileSync(args.input);
    check({ endpoint: names[bytes[0] % names.length], body: bytes.subarray(1), sizes: [1, 7, 3] });
    console.log('nothing is wrong with it');
    return;
  }
  process.on('uncaughtException', (error) => {
    console.error('thrown where nobody can catch it:', error);
    process.exit(1);
  });
  const corpus = seeds();
  const coverage = new Coverage();
  for (const input of corpus) check(input);
  coverage.grew();
  const begun = performance.now();
  const end = begun + Number(args.minutes) * 60_000;
  const atStart = coverage.size;
  let runs = 0;
  while (performance.now() < end) {
    const batch = Array.from({ length: BATCH }, () => mutate(oneOf(corpus), corpus));
    for (const input of batch) guarded(input);
    runs += batch.length;
    if (coverage.grew()) {
      // Whose doing was it? One more time, one by one: the coverage counts what has not been seen at all as new.
      for (const input of batch) {
        guarded(input);
        if (coverage.isRare()) corpus.push(input);
      }
    }
    await new Promise(setImmediate);
  }
  coverage.stop();
  const seconds = (performance.now() - begun) / 1000;
  console.log(
    `${runs} inputs in ${seconds.toFixed(0)} s (seed ${args.seed}): ${coverage.size} blocks reached, ` +
      `${coverage.size - atStart} more than by the ${seeds().length} recordings; ${corpus.length} inputs kept. Nothing found.`,
  );
});

/** Streams that servers have sent. */
function seeds() {
  const transcripts = fromRoot('src', 'spec', 'data', 'transcripts');
  const cases = fromRoot('src', 'spec', 'data', 'cases');
  const wire = { chat: 'chatCompletions', responses: 'responses', messages: 'messages', images: 'images' };
  return [
    ...readdirSync(transcripts)
      .filter((name) => name.endsWith('.sse'))
      .map((name) => ({ endpoint: wire[name.split('-')[0]], body: readFileSync(join(transcripts, name)) })),
    ...readdirSync(cases)
      .filter((name) => name.endsWith('.json'))
      .map((name) => JSON.parse(readFileSync(join(cases, name), 'utf8')))
      .filter(({ body }) => body)
      .map(({ endpoint, body }) => ({ endpoint: wire[endpoint], body: Buffer.from(body) })),
  ].map(({ endpoint, body }) => ({ endpoint, body: body.subarray(0, LONGEST), sizes: [64] }));
}

function mutate({ endpoint, body, sizes }, corpus) {
  let bytes = Buffer.from(body);
  for (let changes = 1 + below(5); changes > 0; changes--) {
    const at = below(bytes.length + 1);
    const to = Math.min(bytes.length, at + 1 + below(oneOf([1, 4, 40, 400])));
    const other = oneOf(corpus).body;
    const piece = () => {
      const start = below(other.length);
      return other.subarray(start, start + 1 + below(300));
    };
    const insert = oneOf([
      () => [Buffer.from(oneOf(WORDS)), at],
      () => [Buffer.from(oneOf(WORDS)), to],
      () => [Buffer.from([below(256)]), to],
      () => [Buffer.alloc(0), to],
      () => [piece(), at],
      () => [piece(), to],
      () => [Buffer.concat([bytes.subarray(at, to), bytes.subarray(at, to)]), to],
      () => [Buffer.alloc(0), below(8) === 0 ? bytes.length : at],
    ])();
    bytes = Buffer.concat([bytes.subarray(0, at), insert[0], bytes.subarray(insert[1])]).subarray(0, LONGEST);
  }
  const cut = below(4) === 0 ? Array.from({ length: 1 + below(6) }, () => 1 + below(oneOf([2, 20, 400]))) : sizes;
  return { endpoint: below(20) === 0 ? oneOf(names) : endpoint, body: bytes, sizes: cut };
}

function guarded(input) {
  const begun = performance.now();
  try {
    check(input);
    const took = performance.now() - begun;
    if (took > SLOW_MS) throw new Error(`took ${took.toFixed(0)} ms`);
  } catch (error) {
    mkdirSync(fromRoot('reports'), { recursive: true });
    const file = fromRoot('reports', 'fuzz-input.bin');
    writeFileSync(file, Buffer.concat([Buffer.from([names.indexOf(input.endpoint)]), input.body]));
    console.error(error);
    throw new Failed(`${input.endpoint}: what did it is in ${file}, in chunks of ${input.sizes.join()}`);
  }
}

function check({ endpoint, body, sizes }) {
  const whole = read(endpoint, [body]);
  const parts = read(endpoint, cut(body, sizes));
  const plain = read(endpoint, cut(new Uint8Array(body), sizes));
  for (const other of [parts, plain]) {
    if (!isDeepStrictEqual(other.events, whole.events)) throw new Error('The events depend on how the bytes are cut');
    if (other.error?.message !== whole.error?.message) throw new Error('The end depends on how the bytes are cut');
  }
  for (const operator of operators) {
    let raised;
    from(whole.events)
      .pipe(operator)
      .subscribe({ error: (error) => (raised = error) });
    if (raised !== undefined) throw raised;
  }
}

function read(endpoint, chunks) {
  const events = [];
  let ended = 0;
  let failure;
  const transport = () =>
    new Observable((subscriber) => {
      subscriber.next({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: from(chunks) });
      subscriber.complete();
    });
  const client = lib.createLlmClient({ baseUrl: 'http://gateway.example', transport });
  const source = client[endpoint]({ model: 'm' });
  source.subscribe({
    next(event) {
      if (ended > 0) ended++;
      events.push(event);
    },
    error(error) {
      ended++;
      failure = error;
    },
    complete: () => ended++,
  });
  if (ended !== 1) throw new Error(`The stream has ended ${ended} times, or gone on after its end`);
  if (failure && !(failure instanceof lib.LlmStreamError)) throw failure;
  return { events, error: failure };
}

function cut(body, sizes) {
  const chunks = [];
  for (let at = 0, i = 0; at < body.length; i++) {
    const size = sizes[i % sizes.length];
    chunks.push(body.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
