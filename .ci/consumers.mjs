// The packed tarball in the hands of other tools than this repository's own: older and newer TypeScript, Jest in Node and
// in jsdom, Vitest, esbuild, webpack and Vite. They are installed aside, and are no dependencies of the project.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWithEach } from './bundlers.mjs';
import { bin, each, Failed, fromRoot, main, pack, readJson, run, withFolder } from './lib.mjs';
import { typescript } from './smoke/typescript.mjs';

const { devDependencies, exports } = readJson(fromRoot('package.json'));
const typescripts = ['5.4', '5.9', '6.0'];

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
        ...['rxjs', '@types/node', '@angular/core', '@angular/common'].map(
          (name) => `${name}@${devDependencies[name]}`,
        ),
        ...['jest-environment-jsdom@30', 'vitest@4', 'vite@7', 'webpack@5'],
        ...typescripts.map((version) => `typescript-${version}@npm:typescript@~${version}.0`),
      ],
      { cwd: project },
    );
    await compile(project);
    await testWithJest(project);
    await testWithVitest(project);
    await bundleWithEach(project, 'browser.mjs');
  }),
);

/** Every entry point under every version. Those that Angular 21 does not support (it asks for 5.9) read its declarations, too. */
async function compile(project) {
  const entries = readFileSync(join(project, 'entries.ts'), 'utf8');
  for (const subpath of Object.keys(exports).filter((name) => name !== './package.json')) {
    const name = `rx-llm${subpath.slice(1)}`;
    if (!entries.includes(` from '${name}';`)) throw new Failed(`.ci/smoke/entries.ts does not use ${name}`);
  }
  const resolutions = [
    { module: 'esnext', moduleResolution: 'bundler' },
    { module: 'nodenext', moduleResolution: 'nodenext' },
  ];
  const programs = typescripts.flatMap((version) => resolutions.map((resolution) => ({ version, resolution })));
  await each(programs, 2, ({ version, resolution }) =>
    typescript({
      tsc: join(project, 'node_modules', `typescript-${version}`, 'bin', 'tsc'),
      project,
      name: `TypeScript ${version}, ${resolution.moduleResolution}, every entry point`,
      files: ['entries.ts', 'typed.ts'],
      types: ['node'],
      noEmit: true,
      ...resolution,
    }),
  );
}

/** `require` takes the build for Node in `node`, the one for browsers in jsdom. */
async function testWithJest(project) {
  for (const environment of ['node', './jsdom.cjs']) {
    const config = {
      rootDir: project,
      testEnvironment: environment,
      testMatch: ['**/*.jest.cjs'],
      moduleFileExtensions: ['cjs', 'mjs', 'js', 'json'],
    };
    await run(bin('jest'), ['--ci', '--config', JSON.stringify(config)], { cwd: project });
    console.log(`ok  Jest, ${environment}`);
  }
}

/** In both environments it takes the build for Node. */
async function testWithVitest(project) {
  writeFileSync(join(project, 'vitest.config.mjs'), `export default { test: { include: ['*.vitest.mjs'] } }`);
  for (const environment of ['node', 'jsdom']) {
    await run(join(project, 'node_modules', '.bin', 'vitest'), ['run', '--environment', environment], { cwd: project });
    console.log(`ok  Vitest, ${environment}`);
  }
}
