// node bench.mjs [SUITE…] [--rounds=N] [--no-peers]: measures, and writes RESULTS.md. Suites that are not named keep what
// they measured last. Reads dist/, so build first.
import { cpus, loadavg } from 'node:os';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { startServer } from './harness/pairs.mjs';
import { footprints, sizes } from './sizes.mjs';
import { suites } from './suites.mjs';

const parts = fileURLToPath(new URL('../reports/bench/', import.meta.url));
const args = process.argv.slice(2);
const names = args.filter((arg) => !arg.startsWith('--'));
const rounds = Number(args.find((arg) => arg.startsWith('--rounds='))?.slice(9) ?? 10);
const peers = !args.includes('--no-peers');

const all = { ...suites, sizes, footprints };
for (const name of names)
  if (!Object.hasOwn(all, name)) throw new Error(`no suite ${name}: ${Object.keys(all).join(', ')}`);

mkdirSync(parts, { recursive: true });
const server = await startServer();
try {
  for (const name of names.length > 0 ? names : Object.keys(all)) {
    const started = performance.now();
    const before = loadavg()[0];
    const body = await all[name].run(server, { rounds, peers });
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(`\n## ${all[name].title} (${seconds} s)\n\n${body}`);
    writeFileSync(
      `${parts}${name}.md`,
      `## ${all[name].title}\n\n${body}\n\nLoad when it began: ${before.toFixed(1)}.\n`,
    );
  }
} finally {
  server.stop();
}

const intro = readFileSync(new URL('./intro.md', import.meta.url), 'utf8');
const machine = `Measured on ${new Date().toISOString().slice(0, 10)}: Node ${process.version.slice(1)}, ${cpus().length} × ${cpus()[0].model.trim()}.`;
const measured = Object.keys(all).filter((name) => existsSync(`${parts}${name}.md`));
const sections = measured.map((name) => readFileSync(`${parts}${name}.md`, 'utf8'));
const page = await format([intro, machine, ...sections].join('\n\n'), { parser: 'markdown', printWidth: 120 });
writeFileSync(new URL('./RESULTS.md', import.meta.url), page);
