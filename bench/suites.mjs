// What is measured. Every suite returns markdown.
import { flood, ratios, startWorker, takeTurns } from './harness/pairs.mjs';
import { exponent, median, spread } from './harness/stats.mjs';

const MIB = 1 << 20;
const fixed = (value, digits = 2) => value.toFixed(digits);
const times = ({ median: middle, q1, q3 }) => `${fixed(middle)} (${fixed(q1)}–${fixed(q3)})`;
const row = (...cells) => `| ${cells.join(' | ')} |`;
const table = (head, rows) =>
  [row(...head), row(...head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map((cells) => row(...cells))].join(
    '\n',
  );

/** CPU of whole streams, each consumer's beside the first one's. */
async function streams(server, { consumers, peers = [], bases = [], kind, n, write, rounds, generations = 3 }) {
  const ours = await flood(server, { kind, n, write, consumers, rounds, generations, warm: 8 });
  // Peers need many times as long: fewer rounds, with the floor and the library among them for their ratios.
  const few = [consumers[0], ...bases, ...peers];
  const theirs = peers.length
    ? await flood(server, { kind, n, write, consumers: few, rounds: Math.max(3, rounds >> 1), generations: 1, warm: 3 })
    : undefined;
  const per = kind === 'images' ? `ms per MiB` : 'µs per event';
  const unit = kind === 'images' ? 5 * n : n / 1000;
  const line = (results, name) => {
    const cpu = median(results[name].map((run) => run.cpu));
    const own = bases[0] && results !== ours ? times(spread(ratios(results, name, bases[0]))) : '';
    return [name, fixed(cpu, 1), fixed(cpu / unit), times(spread(ratios(results, name, consumers[0]))), own];
  };
  const rows = [...consumers.map((name) => line(ours, name)), ...peers.map((name) => line(theirs, name))];
  return table(['', 'CPU ms', per, `× ${consumers[0]}`, bases[0] ? `× ${bases[0]}` : ''], rows);
}

const CHAT_PEERS = [
  'openai',
  'openai .stream()',
  '@langchain/openai',
  'ai + @ai-sdk/openai',
  'ai + @ai-sdk/openai-compatible',
];
const TOKENS = 20_000;

const perStream = (title, options) => ({
  title,
  run: (server, { rounds }) => streams(server, { n: TOKENS, rounds, bases: ['rx-llm'], ...options }),
});

const chat = ['by hand', 'byte scan', 'rx-llm', 'rx-llm textDeltas'];

/** One stream of each size, in fresh processes; `job.heap` weighs what is held and what stays. */
async function growth(server, consumer, kind, sizes, { rounds = 3, warm = [12, 8_000] } = {}) {
  const costs = [];
  let weights;
  for (const size of sizes) {
    const name = consumer;
    // Warm with a small stream, so that the compiler's work is in none of the sizes.
    const worker = await startWorker(name, kind);
    try {
      const { chars } = await (await fetch(server.url(kind, size, 16_384, 1, 'info'))).json();
      const first = { do: 'flood', base: server.url(kind, kind === 'images' ? 1 : warm[1], 16_384, 1, 'flood') };
      for (let i = 0; i < warm[0]; i++) await worker.run(first);
      const runs = [];
      for (let i = 0; i < rounds; i++) {
        const run = await worker.run({ do: 'flood', base: server.url(kind, size, 16_384, 1, 'flood') });
        if (run.chars !== chars)
          throw new Error(`${name} received ${run.chars} characters of ${chars} (${kind} ${size})`);
        runs.push(run);
        if (run.cpu > 20_000) break;
      }
      costs.push([size, median(runs.map((run) => run.cpu))]);
      if (size === sizes.at(-1) && costs.at(-1)[1] < 5_000) {
        const job = { do: 'flood', base: server.url(kind, size, 16_384, 1, 'flood'), heap: true };
        await worker.run(job);
        weights = { ...(await worker.run(job)), text: chars };
      }
    } finally {
      worker.stop();
    }
    if (costs.at(-1)[1] > 20_000) break;
  }
  return { costs, weights };
}

const GROWTH = [
  ['by hand', 'chat'],
  ['rx-llm textDeltas', 'chat'],
  ['rx-llm accumulateText', 'chat'],
  ['rx-llm accumulateText', 'responses'],
  ['rx-llm accumulateText', 'json'],
  ['rx-llm accumulateMessage', 'chat'],
  ['rx-llm accumulateMessage', 'responses'],
  ['rx-llm accumulateMessage', 'messages'],
  ['rx-llm accumulateToolCalls', 'tools'],
  ['rx-llm partialInput', 'tools'],
  ['rx-llm partialInput', 'call'],
];
const GROWTH_PEERS = [
  ['openai .stream()', 'chat'],
  ['openai .stream()', 'tools'],
  ['openai .stream() strict', 'call'],
  ['ai + @ai-sdk/openai', 'json'],
];

export const suites = {
  chat: perStream('Chat, 20,000 deltas, 16 KB writes', { kind: 'chat', consumers: chat, peers: CHAT_PEERS }),
  frames: perStream('Chat, 20,000 deltas, one frame per write', {
    kind: 'chat',
    write: 1,
    consumers: chat,
    peers: ['openai'],
  }),
  responses: perStream('Responses, 20,000 deltas, 16 KB writes', {
    kind: 'responses',
    consumers: chat,
    peers: ['openai', 'ai + @ai-sdk/openai'],
  }),
  'responses-frames': perStream('Responses, 20,000 deltas, one frame per write', {
    kind: 'responses',
    write: 1,
    consumers: chat,
  }),
  messages: perStream('Messages, 20,000 deltas, 16 KB writes', {
    kind: 'messages',
    consumers: chat,
    peers: ['@anthropic-ai/sdk', '@anthropic-ai/sdk .stream()', 'ai + @ai-sdk/anthropic'],
  }),
  'messages-frames': perStream('Messages, 20,000 deltas, one frame per write', {
    kind: 'messages',
    write: 1,
    consumers: chat,
    peers: ['@anthropic-ai/sdk'],
  }),
  tools: perStream('Tool calls in chat: 8 at once, 20,000 deltas of their arguments, 16 KB writes', {
    kind: 'tools',
    consumers: ['by hand', 'rx-llm', 'rx-llm accumulateToolCalls', 'rx-llm partialInput'],
    bases: ['rx-llm accumulateToolCalls'],
    peers: ['openai', 'openai .stream()', '@langchain/openai', 'ai + @ai-sdk/openai'],
  }),
  images: perStream('Images, 5 frames of 3 MiB, 16 KB writes', {
    kind: 'images',
    n: 3,
    consumers: ['by hand', 'byte scan', 'rx-llm'],
    peers: ['openai'],
  }),
  fetch: perStream('Over fetch: chat, 20,000 deltas, 16 KB writes', {
    kind: 'chat',
    consumers: ['fetch by hand', 'rx-llm fetch'],
    bases: [],
  }),
  first: {
    title: 'The way of the first delta: short chat streams one after the other, milliseconds',
    async run(server, { rounds, peers }) {
      const consumers = ['by hand', 'rx-llm', ...(peers ? ['openai', 'ai + @ai-sdk/openai'] : [])];
      const base = server.url('chat', 20, 1, 1, 'first');
      const job = { do: 'first', base, count: 100 };
      const results = await takeTurns({ kind: 'chat', consumers, jobOf: () => job, rounds: rounds >> 1, warm: 3 });
      const beyond = (name, field) => median(results[name].map((run, i) => run[field] - results['by hand'][i][field]));
      const rows = consumers.map((name) => {
        const of = (field) => fixed(median(results[name].map((run) => run[field])), 3);
        const more = (field) => fixed(beyond(name, field), 3);
        return [name, of('toWire'), more('toWire'), of('toNext'), more('toNext'), of('toNext99')];
      });
      return table(
        ['', 'subscribe → request read p50', '− by hand', 'server write → `next` p50', '− by hand', 'p99'],
        rows,
      );
    },
  },
  slow: {
    title: '500 streams at once, 50 deltas each, one every 20 ms',
    async run(server, { rounds, peers }) {
      const consumers = ['by hand', 'rx-llm', 'rx-llm textDeltas', ...(peers ? ['openai', 'ai + @ai-sdk/openai'] : [])];
      const count = 500;
      const slow = { do: 'slow', base: server.url('chat', 50, 1, count, 'slow'), count };
      const results = await takeTurns({
        kind: 'chat',
        consumers,
        jobOf: () => slow,
        rounds: Math.max(5, rounds >> 1),
        warm: 6,
      });
      for (const [name, runs] of Object.entries(results)) {
        if (runs.some((run) => run.events !== 50 * count)) throw new Error(`${name} missed events`);
      }
      const hold = { do: 'hold', base: server.url('chat', 1, 1, 1, 'hold'), count };
      const weights = await takeTurns({ kind: 'chat', consumers, jobOf: () => hold, rounds: 1 });
      const rows = consumers.map((name) => {
        const of = (field) => results[name].map((run) => run[field]);
        return [
          name,
          fixed(median(of('cpu')), 0),
          times(spread(ratios(results, name, 'by hand'))),
          fixed(median(of('lag50'))),
          `${fixed(median(of('lag99')), 1)} (${fixed(Math.min(...of('lag99')), 1)}–${fixed(Math.max(...of('lag99')), 1)})`,
          fixed(median(of('rss')) / MIB, 0),
          fixed(weights[name][0].heap / 1024, 1),
        ];
      });
      return table(
        ['', 'CPU ms', '× by hand', 'lag p50 ms', 'lag p99 ms (rounds)', 'RSS MiB', 'KiB of heap per open stream'],
        rows,
      );
    },
  },
  growth: {
    title: 'Growth: CPU µs per event, from 5,000 to 320,000 events',
    async run(server, { peers }) {
      const sizes = [5_000, 20_000, 80_000, 320_000];
      const rows = [];
      for (const [consumer, kind] of [...GROWTH, ...(peers ? GROWTH_PEERS : [])]) {
        // Some of the peers are quadratic: they get less.
        const isPeer = GROWTH_PEERS.some(([name]) => name === consumer);
        const { costs, weights } = isPeer
          ? await growth(server, consumer, kind, sizes.slice(0, 2), { rounds: 1, warm: [4, 1_000] })
          : await growth(server, consumer, kind, sizes);
        const kib = (bytes) => (bytes === undefined ? '' : fixed(Math.max(0, bytes) / 1024, 0));
        rows.push([
          consumer,
          kind,
          ...sizes.map((_, i) => (costs[i] ? fixed((costs[i][1] * 1000) / costs[i][0]) : '')),
          fixed(exponent(costs[0], costs.at(-1))),
          fixed(exponent(costs.at(-2), costs.at(-1))),
          kib(weights?.text),
          kib(weights?.held),
          kib(weights?.kept),
        ]);
      }
      const about = ['exponent', 'of the last step', 'characters, Ki', 'KiB held by the result', 'KiB kept after it'];
      return table(['', 'stream', '5k', '20k', '80k', '320k', ...about], rows);
    },
  },
  'image-sizes': {
    title: 'Images by the size of a frame: CPU ms per MiB (5 frames)',
    async run(server, { peers }) {
      const sizes = [1, 2, 4, 8];
      const rows = [];
      for (const consumer of ['by hand', 'byte scan', 'rx-llm', ...(peers ? ['openai'] : [])]) {
        const { costs } = await growth(server, consumer, 'images', consumer === 'openai' ? [1, 2, 4] : sizes);
        rows.push([consumer, ...sizes.map((_, i) => (costs[i] ? fixed(costs[i][1] / costs[i][0] / 5) : ''))]);
      }
      return table(['', ...sizes.map((size) => `${size} MiB`)], rows);
    },
  },
  allocations: {
    title: 'Allocated bytes per event, which no other load disturbs',
    run: async (server) => {
      const rows = [];
      for (const [kind, consumers] of ALLOCATIONS) {
        const results = await allocations(server, kind, consumers);
        for (const name of consumers) {
          const bytes = median(results[name]);
          rows.push([kind, name, fixed(bytes / TOKENS, 0), fixed(bytes / median(results[consumers[0]]))]);
        }
      }
      return table(['stream', '', 'bytes per event', '× by hand'], rows);
    },
  },
};

export const ALLOCATIONS = [
  ['chat', ['by hand', 'rx-llm', 'rx-llm textDeltas']],
  ['responses', ['by hand', 'rx-llm', 'rx-llm textDeltas']],
  ['messages', ['by hand', 'rx-llm', 'rx-llm textDeltas']],
  ['tools', ['by hand', 'rx-llm', 'rx-llm accumulateToolCalls']],
];

/** Bytes that one warm stream of 20,000 deltas allocates; some of each consumer. */
export async function allocations(server, kind, consumers, n = TOKENS) {
  const jobOf = () => ({ do: 'allocations', base: server.url(kind, n, 16_384, 1, 'flood') });
  // Room for several streams between two collections.
  const nodeOptions = ['--min-semi-space-size=256', '--max-semi-space-size=256'];
  const results = await takeTurns({ kind, consumers, jobOf, rounds: 3, warm: 5, nodeOptions });
  return Object.fromEntries(Object.entries(results).map(([name, runs]) => [name, runs.map(({ bytes }) => bytes)]));
}
