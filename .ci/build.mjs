// Builds dist/: ES modules and CommonJS, one file for each source file, by two runs of plain tsc.
//
// The output is readable ES2022 with its comments, so it goes without source maps, which would double the package.
// Everything is built aside and moved into place at the end: whoever reads dist/ meanwhile sees the old build or the
// new one, and a build that fails leaves the old one alone.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { bin, Failed, fromRoot, main, readJson, root, run } from './lib.mjs';

await main(async () => {
  const started = performance.now();
  const cache = fromRoot('node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const aside = mkdtempSync(join(cache, 'build-'));
  try {
    const compile = (format) =>
      run(bin('tsc'), ['-p', fromRoot('.ci', `tsconfig.${format}.json`), '--outDir', join(aside, format)]);
    const failed = (await Promise.allSettled([compile('esm'), compile('cjs')])).find(
      (run) => run.status === 'rejected',
    );
    if (failed) throw failed.reason;
    writeFileSync(join(aside, 'cjs', 'package.json'), '{ "type": "commonjs", "sideEffects": false }\n');
    for (const path of Object.values(readJson(fromRoot('package.json')).bin ?? {})) makeExecutable(aside, path);
    replace(fromRoot('dist'), aside);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  console.log(`built dist/esm and dist/cjs in ${((performance.now() - started) / 1000).toFixed(1)} s`);
});

function makeExecutable(aside, path) {
  const file = join(aside, relative(fromRoot('dist'), resolve(root, path)));
  if (!readFileSync(file, 'utf8').startsWith('#!/usr/bin/env node\n')) throw new Failed(`${path} has no #! line`);
  chmodSync(file, 0o755);
}

function replace(target, source) {
  const old = `${source}-old`;
  try {
    renameSync(target, old);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(source, target);
  chmodSync(target, 0o755);
  rmSync(old, { recursive: true, force: true });
}
