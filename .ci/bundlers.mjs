// The bundlers that an application may use, and what a bundle for browsers must not hold: undici, Node's modules, and more
// bytes than .ci/budgets.json allows.
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Failed, fromRoot, readJson } from './lib.mjs';

const budgets = readJson(fromRoot('.ci', 'budgets.json'));
const builtin = new RegExp(`(?:from|import|require\\()\\s*["'](?:node:[^"']*|${builtinModules.join('|')})["']`);

/** `modules` are the paths that the bundler says it took, `code` is what it made of them. */
export function inspect(name, { modules, code }) {
  const wrong = modules.filter((path) =>
    /node_modules\/undici\/|^(external )?"?node:|__vite-browser-external|index\.node|rx-llm\/dist\/(cjs|esm\/(gateway|testing|undici))/.test(
      path,
    ),
  );
  if (wrong.length > 0) throw new Failed(`${name}: the bundle for browsers holds ${wrong.join(', ')}`);
  if (!modules.some((path) => path.includes('rx-llm/dist/esm/'))) throw new Failed(`${name}: without the ES modules`);
  const found = /undici/.exec(code) ?? builtin.exec(code);
  if (found) throw new Failed(`${name}: the code speaks of ${code.slice(found.index - 40, found.index + 40)}`);

  const size = gzipSync(code, { level: 9 }).length;
  const budget = budgets[name];
  if (!(size <= budget)) throw new Failed(`${name}: ${size} bytes gzip, the budget is ${budget}`);
  console.log(`ok  ${name}: ${size} bytes gzip of ${budget}`);
}

/** Bundles `entry` of `project` beside RxJS, with each bundler. */
export async function bundleWithEach(project, entry) {
  const require = createRequire(join(project, 'package.json'));
  inspect('one use, esbuild', await withEsbuild(project, entry));
  inspect('one use, webpack', await withWebpack(require('webpack'), project, entry));
  inspect('one use, Vite', await withVite(await import(pathToFileURL(require.resolve('vite'))), project, entry));
}

async function withEsbuild(project, entry) {
  const { metafile, outputFiles } = await build({
    entryPoints: [entry],
    absWorkingDir: project,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    external: ['rxjs'],
    logLevel: 'silent',
  });
  return { modules: Object.keys(metafile.inputs), code: outputFiles[0].text };
}

async function withWebpack(webpack, project, entry) {
  const output = { path: join(project, 'webpack'), filename: 'main.js', module: true };
  const stats = await new Promise((resolve, reject) =>
    webpack(
      {
        mode: 'production',
        target: 'web',
        context: project,
        entry: `./${entry}`,
        output,
        experiments: { outputModule: true },
        externals: { rxjs: 'module rxjs' },
      },
      (error, stats) => (error ? reject(error) : resolve(stats)),
    ),
  );
  if (stats.hasErrors()) throw new Failed(stats.toString('errors-only'));
  const { modules } = stats.toJson({
    all: false,
    modules: true,
    nestedModules: true,
    modulesSpace: Infinity,
    nestedModulesSpace: Infinity,
  });
  return {
    modules: modules.flatMap((module) => [module, ...(module.modules ?? [])]).map(({ identifier = '' }) => identifier),
    code: readFileSync(join(output.path, output.filename), 'utf8'),
  };
}

async function withVite(vite, project, entry) {
  const { output } = await vite.build({
    root: project,
    configFile: false,
    logLevel: 'silent',
    build: { write: false, rollupOptions: { input: join(project, entry), external: ['rxjs'] } },
  });
  const chunks = output.filter(({ type }) => type === 'chunk');
  return { modules: chunks.flatMap(({ moduleIds }) => moduleIds), code: chunks.map(({ code }) => code).join('\n') };
}
