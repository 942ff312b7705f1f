// The packed tarball in the hands of other tools than this repository's own: older and newer TypeScript, Jest in Node and
// in jsdom, Vitest, webpack and Vite. They are installed aside, and are no dependencies of the project.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bin, Failed, fromRoot, main, pack, readJson, run, withFolder } from './lib.mjs';
import { typescript } from './smoke/typescript.mjs';

const { devDependencies } = readJson(fromRoot('package.json'));
const typescripts = ['5.4', '6.0'];

await main(() =>
  withFolder('consumers', async (folder) => {
    const { tarball } = await pack(folder);
    const project = join(folder, 'project');
    cpSync(fromRoot('.ci', 'smoke'), project, { recursive: true });
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    await run(
      'npm',
      [
        ...['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', '--no-save', tarball],
        ...['rxjs', '@types/node'].map((name) => `${name}@${devDependencies[name]}`),
        ...['jest-environment-jsdom@30', 'vitest@4', 'vite@7', 'webpack@5'],
        ...typescripts.map((version) => `typescript-${version}@npm:typescript@~${version}.0`),
      ],
      { cwd: project },
    );

    for (const version of typescripts) {
      const tsc = join(project, 'node_modules', `typescript-${version}`, 'bin', 'tsc');
      await typescript({
        tsc,
        project,
        name: `bundler, TypeScript ${version}`,
        module: 'esnext',
        moduleResolution: 'bundler',
      });
      await typescript({ tsc, project, name: `nodenext, TypeScript ${version}`, module: 'nodenext', types: ['node'] });
    }
    for (const environment of ['node', 'jsdom']) {
      const config = { rootDir: project, testEnvironment: environment, testMatch: ['**/*.jest.cjs'] };
      await run(bin('jest'), [
        '--ci',
        '--config',
        JSON.stringify({ ...config, moduleFileExtensions: ['cjs', 'mjs', 'js', 'json'] }),
      ]);
      console.log(`ok  Jest, ${environment}`);
    }
    const vitest = join(project, 'node_modules', '.bin', 'vitest');
    writeFileSync(join(project, 'vitest.config.mjs'), `export default { test: { include: ['*.vitest.mjs'] } }`);
    await run(vitest, ['run'], { cwd: project });
    console.log('ok  Vitest');

    const require = createRequire(join(project, 'package.json'));
    inspect('webpack', await withWebpack(require('webpack'), project));
    inspect('Vite', await withVite(await import(pathToFileURL(require.resolve('vite'))), project));
  }),
);

function inspect(name, { modules, code }) {
  const wrong = modules.filter((path) => /node_modules\/undici\/|node:|__vite-browser-external|index\.node/.test(path));
  if (wrong.length > 0) throw new Failed(`${name}'s bundle for browsers holds ${wrong.join(', ')}`);
  if (!modules.some((path) => path.includes('/rx-llm/dist/esm/')))
    throw new Failed(`${name} did not take the ES modules`);
  console.log(`ok  ${name}: ${gzipSync(code, { level: 9 }).length} bytes gzip, RxJS included`);
}

async function withWebpack(webpack, project) {
  const output = { path: join(project, 'webpack'), filename: 'main.js' };
  const options = { mode: 'production', target: 'web', context: project, entry: './browser.mjs', output };
  const stats = await new Promise((resolve, reject) =>
    webpack(options, (error, stats) => (error ? reject(error) : resolve(stats))),
  );
  if (stats.hasErrors()) throw new Failed(stats.toString('errors-only'));
  const modules = stats.toJson({
    all: false,
    modules: true,
    nestedModules: true,
    modulesSpace: Infinity,
    nestedModulesSpace: Infinity,
  }).modules;
  const names = modules.flatMap(({ identifier = '', modules = [] }) => [
    identifier,
    ...modules.map((module) => module.identifier),
  ]);
  return { modules: names, code: readFileSync(join(output.path, output.filename)) };
}

async function withVite(vite, project) {
  const { output } = await vite.build({
    root: project,
    configFile: false,
    logLevel: 'silent',
    build: { write: false, rollupOptions: { input: join(project, 'browser.mjs') } },
  });
  const chunks = output.filter(({ type }) => type === 'chunk');
  return { modules: chunks.flatMap(({ moduleIds }) => moduleIds), code: chunks.map(({ code }) => code).join('\n') };
}
