// What a bundler keeps of small uses of the library: readers, operators and transports that a use does not need must be
// gone. Sizes have budgets in .ci/budgets.json. Reads dist/, so build first. --why lists the modules by their minified bytes.
import { build } from 'esbuild';
import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Failed, fromRoot, main } from './lib.mjs';

// `concepts` may be kept, with each endpoint's reader of the same name; of the operators and transports, `modules`. Helpers
// that several operators share are free.
const uses = [
  {
    code: `export { createLlmClient, textDeltas }`,
    concepts: ['text'],
    modules: ['operators/text-deltas', 'transport/fetch'],
  },
  { code: `export { createLlmClient }`, concepts: [], modules: ['transport/fetch'] },
  { code: `export { textDeltas }`, concepts: ['text'], modules: ['operators/text-deltas'] },
  { code: `export { retryBeforeFirstToken }`, concepts: [], modules: ['operators/retry-before-first-token'] },
];
const why = process.argv.includes('--why');
const guarded = /^(concepts\/(?!concept$)|transport\/|angular\/|testing\/|gateway\/)/;
// Usage is not a reader to be rid of: every error says what was reported before it (`error.usage`).
const reader = /^endpoints\/[^/]+\/(?!endpoint$|wire$|usage$)([^/]+)$/;

await main(async () => {
  if (!existsSync(fromRoot('dist', 'esm', 'index.js'))) throw new Failed('dist/ is missing: run `npm run build`.');
  const index = readFileSync(fromRoot('dist', 'esm', 'index.js'), 'utf8');
  const operators = new Set([...index.matchAll(/'\.\/(operators\/[^']+)\.js'/g)].map(([, module]) => module));
  const faults = [];
  for (const { code, concepts, modules } of uses) {
    const { kept, weights, bytes } = await bundle(`${code} from './index.js'`);
    const needed = new Set([...modules, ...concepts.map((name) => `concepts/${name}`)]);
    for (const module of kept) {
      const of = reader.exec(module)?.[1];
      const unneeded =
        of === undefined
          ? (guarded.test(module) || operators.has(module)) && !needed.has(module)
          : isConcept(of) && !concepts.includes(of);
      if (unneeded) faults.push(`\`${code}\` carries ${module}`);
    }
    console.log(
      `${code.slice('export '.length).padEnd(34)} ${String(kept.length).padStart(3)} modules, ${bytes} bytes gzip`,
    );
    if (why) for (const [module, weight] of weights) console.log(`${String(weight).padStart(10)} ${module}`);
  }
  const { graph } = await bundle(`export * from './index.js'`);
  faults.push(...cycles(graph).map((path) => `a cycle of imports: ${path.join(' → ')}`));
  if (faults.length > 0) throw new Failed(faults.join('\n'));
});

function isConcept(name) {
  return existsSync(fromRoot('dist', 'esm', 'concepts', `${name}.js`));
}

async function bundle(contents) {
  const result = await build({
    stdin: { contents, resolveDir: fromRoot('dist', 'esm') },
    absWorkingDir: fromRoot('dist', 'esm'),
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: ['rxjs'],
    logLevel: 'silent',
  });
  const [output] = Object.values(result.metafile.outputs);
  const weights = Object.entries(output.inputs)
    .map(([path, { bytesInOutput }]) => [path.replace(/^.*node_modules\//, '').replace(/\.js$/, ''), bytesInOutput])
    .filter(([, bytes]) => bytes > 0)
    .sort(([, a], [, b]) => b - a);
  const kept = weights.map(([module]) => module);
  return {
    kept,
    weights,
    bytes: gzipSync(result.outputFiles[0].contents, { level: 9 }).length,
    graph: result.metafile.inputs,
  };
}

/** The cycles of imports at run time; those of types alone are gone from dist/. */
function cycles(graph) {
  const found = [];
  const done = new Set();
  const visit = (path, trail) => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path]);
    if (trail.includes(path) || done.has(path)) return;
    for (const { path: next, external } of graph[path]?.imports ?? []) if (!external) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of Object.keys(graph)) visit(path, []);
  return found;
}
