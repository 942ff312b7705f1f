// Installs the packed tarball into an empty project, as a user would, and runs it there: as ES module, as CommonJS, as
// TypeScript under `nodenext` and `bundler`, under the browser condition, and bundled for browsers.
//
// `node .ci/smoke.mjs [--tarball FILE] [--quick] [--with PACKAGE@VERSION]...`: --quick leaves TypeScript and the bundle out,
// which do not depend on the version of Node; --with says which version of a dependency, where npm should not choose.
// Everything is run by the Node that runs this file.
import { build } from 'esbuild';
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Failed, fromRoot, main, pack, readJson, run, withFolder } from './lib.mjs';
import { typescript } from './smoke/typescript.mjs';
import { expected, startServer } from './smoke/server.mjs';

const { values: args } = parseArgs({
  options: {
    tarball: { type: 'string' },
    quick: { type: 'boolean' },
    with: { type: 'string', multiple: true, default: [] },
  },
});
const { devDependencies, exports, bin: commands } = readJson(fromRoot('package.json'));

await main(() =>
  withFolder('smoke', async (folder) => {
    const tarball = args.tarball ?? (await pack(folder)).tarball;
    const project = join(folder, 'project');
    cpSync(fromRoot('.ci', 'smoke'), project, { recursive: true });
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');

    // npm by way of PATH, so that it chooses dependencies for the Node that runs this file.
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
    const install = (...packages) =>
      run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', ...packages], {
        cwd: project,
        env,
      });
    await install(tarball, `rxjs@${devDependencies.rxjs}`, ...args.with);
    const version = (name) => readJson(join(project, 'node_modules', name, 'package.json')).version;
    console.log(
      `node ${process.versions.node}: undici ${version('undici')}, eventsource-parser ${version('eventsource-parser')}, ` +
        `${readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.')).length} packages in all`,
    );

    const server = await startServer();
    const node = (...args) =>
      run(process.execPath, args, { cwd: project, env: { ...env, BASE_URL: server.url, NO_COLOR: '1' } });
    const stream = async (name, userAgent, ...args) => {
      const output = (await node(...args)).trim();
      if (output !== expected) throw new Failed(`${name} printed\n  ${output}\nand not\n  ${expected}`);
      const agents = [...server.userAgents()].join();
      if (agents !== userAgent) throw new Failed(`${name}: requests came from '${agents}', not '${userAgent}'`);
      console.log(`ok  ${name}`);
    };

    try {
      // undici sends no user agent of its own; Node's fetch says `node`.
      await stream('ES module', 'none', 'esm.mjs');
      await stream('CommonJS', 'none', 'cjs.cjs');
      await stream('ES module, browser condition', 'node', '--conditions=browser', 'esm.mjs');
      await stream('CommonJS, browser condition', 'node', '--conditions=browser', 'cjs.cjs');
      const both = Object.entries(exports).filter(([, target]) => target.require ?? target.node?.require);
      await node('subpaths.mjs', ...both.map(([subpath]) => `rx-llm${subpath.slice(1)}`));
      console.log(`ok  import and require of ${both.map(([subpath]) => subpath).join(' ')}`);
      await node('gateway.mjs');
      for (const name of Object.keys(commands)) await node(join('node_modules', '.bin', name), '--version');
      console.log(`ok  the gateway, and the command ${Object.keys(commands).join(' ')}`);
      if (args.quick) return;

      const tsc = fromRoot('node_modules', 'typescript', 'bin', 'tsc');
      await typescript({ tsc, project, name: 'TypeScript, bundler', module: 'esnext', moduleResolution: 'bundler' });
      // undici's own declarations speak of Node's.
      await install(`@types/node@${devDependencies['@types/node']}`);
      const nodenext = { tsc, project, module: 'nodenext', types: ['node'] };
      await typescript({ ...nodenext, name: 'TypeScript, nodenext' });
      cpSync(join(project, 'typed.ts'), join(project, 'typed.cts'));
      await typescript({ ...nodenext, name: 'TypeScript, nodenext, CommonJS', files: ['typed.cts'] });
      await typescript({
        ...nodenext,
        name: 'TypeScript, node10, CommonJS',
        files: ['subpaths.cts'],
        module: 'commonjs',
        moduleResolution: 'node10',
      });
      await node('out/typed.js');
      await node('out/subpaths.cjs');
      await node('out/typed.cjs');
      console.log('ok  what TypeScript made of it runs');

      const { inputs } = await bundle(project, 'esm.mjs', 'bundle.mjs');
      const wrong = Object.keys(inputs).filter((path) =>
        /(^|\/)node_modules\/undici\/|^node:|\/gateway\/|index\.node/.test(path),
      );
      if (wrong.length > 0) throw new Failed(`The browser bundle holds ${wrong.join(', ')}`);
      server.userAgents();
      await stream('bundle for browsers, without undici and node:', 'node', 'bundle.mjs');
    } finally {
      server.close();
    }
  }),
);

/** esbuild refuses a Node built-in on `platform: 'browser'`, so that a bundle which builds has none. */
async function bundle(project, entry, outfile) {
  const { metafile } = await build({
    entryPoints: [join(project, entry)],
    outfile: join(project, outfile),
    absWorkingDir: project,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    logLevel: 'silent',
  });
  return metafile;
}
