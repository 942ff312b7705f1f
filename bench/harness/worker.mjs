// One consumer in a process of its own; does what the parent asks for and answers with what it measured. CPU is that of
// the whole process, the collector's and the compiler's threads included, in milliseconds.
import { makeConsumer } from '../consumers/index.mjs';
import { quantile } from './stats.mjs';

const { name, kind, dist } = JSON.parse(process.argv[2]);
globalThis.AI_SDK_LOG_WARNINGS = false;
const consume = await makeConsumer(name, kind, dist);

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const heap = () => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const settle = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const jobs = {
  /** One whole stream. `heap`: also what stays on the heap, with the result held and after. */
  async flood({ base, heap: weigh }) {
    // Not before every stream: a full collection also throws away the optimised code of shapes that no object has.
    if (weigh) global.gc();
    const before = weigh && heap();
    const started = performance.now();
    const cpuBefore = cpu();
    const hold = { result: await consume(base) };
    const measured = { cpu: cpu() - cpuBefore, wall: performance.now() - started, chars: hold.result.chars };
    if (!weigh) return measured;
    await settle(20);
    global.gc();
    measured.held = heap() - before;
    delete hold.result;
    global.gc();
    measured.kept = heap() - before;
    return measured;
  },
  /** Bytes allocated by one stream; the nursery is larger than that, so that nothing is collected meanwhile. */
  async allocations({ base }) {
    global.gc();
    const before = process.memoryUsage().heapUsed;
    const { chars } = await consume(base);
    return { bytes: process.memoryUsage().heapUsed - before, chars };
  },
  /** Many short streams, one after the other. */
  async first({ base, count }) {
    const toWire = [];
    const toNext = [];
    for (let i = 0; i < count; i++) {
      // The server is still busy with the end of the last one, which some consumers do not wait for.
      await settle(3);
      const called = process.hrtime.bigint();
      await consume(base, (text) => {
        if (text[0] !== 'T') return;
        const now = process.hrtime.bigint();
        const [received, sent] = text.slice(1, text.indexOf(';')).split(',');
        toNext.push(Number(now - BigInt(sent)) / 1e6);
        toWire.push(Number(BigInt(received) - called) / 1e6);
      });
    }
    return { toNext: quantile(toNext, 0.5), toNext99: quantile(toNext, 0.99), toWire: quantile(toWire, 0.5) };
  },
  /** Many slow streams at once. */
  async slow({ base, count }) {
    const lags = [];
    const onText = (text) => {
      if (text[0] !== 'T') return;
      lags.push(Number(process.hrtime.bigint() - BigInt(text.slice(text.indexOf(',') + 1, text.indexOf(';')))) / 1e6);
    };
    // No full collection before it, as in `flood`: it would throw the optimised code away.
    let rss = 0;
    const timer = setInterval(() => (rss = Math.max(rss, process.memoryUsage.rss())), 25);
    const before = cpu();
    await Promise.all(Array.from({ length: count }, () => consume(base, onText)));
    const used = cpu() - before;
    clearInterval(timer);
    return { cpu: used, events: lags.length, lag50: quantile(lags, 0.5), lag99: quantile(lags, 0.99), rss };
  },
  /** What one open stream weighs, sockets included: many that stand still after their first delta. */
  async hold({ base, count }) {
    global.gc();
    const before = heap();
    const rssBefore = process.memoryUsage.rss();
    let open = 0;
    await new Promise((resolve, reject) => {
      for (let i = 0; i < count; i++) consume(base, () => ++open === count && resolve()).catch(reject);
    });
    await settle(20);
    global.gc();
    return { heap: (heap() - before) / count, rss: (process.memoryUsage.rss() - rssBefore) / count };
  },
};

process.on('message', (job) => {
  jobs[job.do](job).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: String(error?.stack ?? error).slice(0, 600) }),
  );
});
process.on('disconnect', () => process.exit());
process.send({ ready: true, rss: process.memoryUsage.rss() });
