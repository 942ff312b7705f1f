// Starts the server and the consumers, and lets them take turns: one job of each in every round, in rotated order, so
// that what else the machine does meets all of them alike. A ratio is taken inside one round, never across two.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = (name) => fileURLToPath(new URL(name, import.meta.url));

export async function startServer() {
  const child = fork(script('./server.mjs'), { execArgv: [] });
  const [{ port }] = await once(child, 'message');
  return {
    url: (kind, n, write, count, mode) => `http://127.0.0.1:${port}/s/${kind}.${n}.${write}.${count}.${mode}/v1`,
    stop: () => child.disconnect(),
  };
}

/** @param consumer `NAME`, or `NAME@DIST` for another build of the library */
export async function startWorker(consumer, kind, nodeOptions = []) {
  const [name, dist] = consumer.split(/@(?=[./])/);
  const child = fork(script('./worker.mjs'), [JSON.stringify({ name, kind, dist })], {
    execArgv: ['--expose-gc', '--max-old-space-size=4000', ...nodeOptions],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const message = (ms) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(reject, new Error(`${consumer}: no answer in ${ms / 1000} s`)), ms);
      const onExit = (code) => settle(reject, new Error(`${consumer} ended with ${code}`));
      const settle = (how, value) => {
        clearTimeout(timer);
        child.off('message', onMessage).off('exit', onExit);
        how(value);
      };
      const onMessage = (value) =>
        value.error === undefined ? settle(resolve, value) : settle(reject, new Error(`${consumer}: ${value.error}`));
      child.on('message', onMessage).on('exit', onExit);
    });
  await message(60_000);
  return {
    consumer,
    async run(job, ms = 120_000) {
      child.send(job);
      return (await message(ms)).result;
    },
    stop: () => child.kill('SIGKILL'),
  };
}

/**
 * @param jobOf the job for a consumer, from its name
 * @returns for each consumer its results, one a round
 */
export async function takeTurns({ consumers, kind, jobOf, rounds, warm = 0, generations = 1, nodeOptions }) {
  const results = Object.fromEntries(consumers.map((name) => [name, []]));
  // A process keeps the code that its compiler happened to make: several generations show how much that matters.
  for (let generation = 0; generation < generations; generation++) {
    const workers = [];
    try {
      for (const name of consumers) workers.push(await startWorker(name, kind, nodeOptions));
      for (const worker of workers) for (let i = 0; i < warm; i++) await worker.run(jobOf(worker.consumer));
      for (let round = 0; round < rounds; round++) {
        for (let i = 0; i < workers.length; i++) {
          const worker = workers[(i + round) % workers.length];
          results[worker.consumer].push(await worker.run(jobOf(worker.consumer)));
        }
      }
    } finally {
      for (const worker of workers) worker.stop();
    }
  }
  return results;
}

/** Whole streams: checks that every consumer received every character. */
export async function flood(server, { kind, n, write = 16_384, ...options }) {
  const { chars } = await (await fetch(server.url(kind, n, write, 1, 'info'))).json();
  const job = { do: 'flood', base: server.url(kind, n, write, 1, 'flood'), ...options.job };
  const results = await takeTurns({ kind, jobOf: () => job, ...options });
  for (const [name, runs] of Object.entries(results)) {
    const wrong = runs.find((run) => run.chars !== chars);
    if (wrong) throw new Error(`${name} received ${wrong.chars} characters of ${chars} (${kind})`);
  }
  return results;
}

/** The ratio of each round, field by field. */
export function ratios(results, name, base, field = 'cpu') {
  return results[name].map((run, round) => run[field] / results[base][round][field]);
}
