// Streams against the gateway of dist/, with faults switched on at random: every stream must end as its fault and
// endpoint foretell, memory must stay flat, and nothing may keep the process alive afterwards.
//
// `npm run soak -- --seconds 600 --seed 7 --streams 40`. Reads dist/, so build first.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { Failed, main } from './lib.mjs';

const { values: args } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    streams: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Date.now() % 1e6) },
  },
});

const { accumulateMessage, createLlmClient, retryBeforeFirstToken, textDeltas, toolCalls } =
  await import('../dist/esm/index.node.js');

const endpoints = {
  chatCompletions: (prompt) => ({ model: 'vendor/leaf-1', messages: [{ role: 'user', content: prompt }] }),
  responses: (prompt) => ({ model: 'vendor/leaf-1', input: prompt }),
  messages: (prompt) => ({ model: 'vendor/leaf-1', max_tokens: 1000, messages: [{ role: 'user', content: prompt }] }),
  images: (prompt) => ({ model: 'vendor/painter', prompt, size: '48x32' }),
};
const names = Object.keys(endpoints);

const random = seeded(Number(args.seed));
const below = (n) => Math.floor(random() * n);
const oneOf = (list) => list[below(list.length)];

/** A fault, and how a stream under it ends: the kind of its error, or `complete`. */
function draw(endpoint) {
  // An image is one event: after it nothing essential can be lost.
  const after = endpoint === 'images' ? 0 : below(4);
  const status = oneOf([400, 401, 402, 403, 404, 408, 409, 422, 429, 500, 502, 503, 529]);
  return oneOf([
    ...Array(6).fill({ ends: 'complete' }),
    { fault: `status=${status}`, ends: 'http' },
    { fault: `status=503; retry-after-ms=5; times=1`, ends: 'complete', retry: true },
    { fault: 'reset=headers; times=1', ends: 'complete', retry: true },
    { fault: `error=${after}`, ends: 'in-band' },
    { fault: `failed=${after}`, ends: 'in-band' },
    { fault: `incomplete=${after + 1}`, ends: endpoint === 'images' ? undefined : 'complete' },
    { fault: `cut=${after}`, ends: 'truncated' },
    { fault: `cut=${after}; in-frame`, ends: 'truncated' },
    { fault: 'reset=headers', ends: 'connection' },
    { fault: `reset=${after}`, ends: 'truncated' },
    { fault: 'stall=headers', ends: 'timeout', phase: 'headers' },
    { fault: `stall=${after}`, ends: 'timeout', phase: 'idle' },
    { fault: `stall=${after}; keep-alive-ms=20`, ends: 'timeout', phase: 'stalled' },
    { fault: `malformed=${after}`, ends: 'malformed' },
    { fault: 'json', ends: 'http' },
    { fault: 'json; answer', ends: 'http' },
    { fault: 'html', ends: 'http' },
    { fault: `huge=${50_000 + below(200_000)}`, ends: 'complete' },
    { fault: 'never-close', ends: 'complete' },
    // A finish reason says that nothing is missing; Responses has nothing but its final event, Images differ by dialect.
    { fault: 'no-done', ends: { chatCompletions: 'complete', messages: 'complete', responses: 'truncated' }[endpoint] },
    { fault: `tool-indexes=${oneOf(['zero', 'missing'])}`, ends: 'complete' },
  ]);
}

await main(async () => {
  const before = handles();
  const gateway = new Worker(new URL('./soak-gateway.mjs', import.meta.url), { workerData: { seed: args.seed } });
  const [baseUrl] = await once(gateway, 'message');
  const client = createLlmClient({
    baseUrl,
    apiKey: 'sk-soak-123456',
    // Long enough for a busy machine, short enough to run into often.
    timeouts: { headersMs: 1500, idleMs: 1500, stalledMs: 2000 },
  });
  const started = performance.now();
  const end = started + Number(args.seconds) * 1000;
  const counts = {};
  const wrong = [];
  const heaps = [];
  let turns = 0;

  const worker = async () => {
    while (performance.now() < end && wrong.length === 0) {
      const endpoint = oneOf(names);
      const { fault, ends, phase, retry } = draw(endpoint);
      if (ends === undefined) continue;
      const headers = {
        'x-gateway-dialect': oneOf(['a', 'b']),
        ...(fault && { 'x-gateway-fault': fault }),
      };
      const request = endpoints[endpoint](`Tell me about the sea and the wind, part ${turns++}, in detail`);
      let source = client[endpoint](request, { headers });
      if (retry) source = source.pipe(retryBeforeFirstToken({ delay: 1 }));
      if (endpoint !== 'images' && below(4) === 0)
        source = source.pipe(oneOf([textDeltas, toolCalls, accumulateMessage])());
      const leaveAfter = below(6) === 0 ? below(6) : Infinity;
      const how = await run(source, leaveAfter);
      const label = `${endpoint} under '${fault ?? 'no fault'}'`;
      const outcome = how.error?.kind ?? how.end;
      counts[outcome] = (counts[outcome] ?? 0) + 1;
      if (how.end === 'left') continue;
      if (outcome !== ends || (phase && how.error.phase !== phase)) {
        wrong.push(`${label} ended as ${outcome}, not ${ends}${phase ? ` (${phase})` : ''}: ${how.error ?? ''}`);
      }
    }
  };
  const watch = async () => {
    while (performance.now() < end && wrong.length === 0) {
      await delay(Math.min(5000, (Number(args.seconds) * 1000) / 8));
      heaps.push(heap());
    }
  };
  await Promise.all([watch(), ...Array.from({ length: Number(args.streams) }, worker)]);
  gateway.postMessage('close');
  await once(gateway, 'exit');

  const seconds = (performance.now() - started) / 1000;
  console.log(`${turns} streams in ${seconds.toFixed(0)} s (seed ${args.seed}): ${JSON.stringify(counts)}`);
  console.log(`heap after each part, in MiB: ${heaps.map((size) => size.toFixed(1)).join(' ')}`);
  if (wrong.length > 0) throw new Failed(wrong.join('\n'));
  // The first parts load and compile; from then on nothing may grow.
  const settled = heaps.slice(Math.floor(heaps.length / 3));
  const growth = Math.min(...settled.slice(-2)) - Math.min(...settled.slice(0, 2));
  if (growth > 4) throw new Failed(`The heap has grown by ${growth.toFixed(1)} MiB`);
  await noHandles(before);
});

/** How a stream ends: a notification, or leaving it after so many events. */
function run(source, leaveAfter) {
  return new Promise((resolve) => {
    let ended = false;
    const end = (how) => {
      if (ended) throw new Error('A stream has ended twice');
      ended = true;
      resolve(how);
    };
    let left = leaveAfter;
    const subscription = source.subscribe({
      next() {
        if (left-- > 0) return;
        subscription.unsubscribe();
        end({ end: 'left' });
      },
      error: (error) => end({ end: 'error', error }),
      complete: () => end({ end: 'complete' }),
    });
  });
}

function heap() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function handles() {
  return process
    .getActiveResourcesInfo()
    .filter((name) => /TCP|TLS|Timeout|Immediate|GetAddr/.test(name))
    .sort();
}

/** Waits a moment for what was closed just now. */
async function noHandles(before) {
  let open = handles();
  for (let tries = 0; tries < 40; tries++) {
    await delay(50);
    // The timer of this very wait is not there at this point.
    open = handles();
    if (open.join() === before.join()) return;
  }
  throw new Failed(`These keep the process alive: ${open.join(', ')}`);
}

function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
