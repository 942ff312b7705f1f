// Runs the smoke test of one packed tarball on each version of Node, with each pair of dependencies that it can have. The
// Node binaries come as npm packages, of this platform.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { each, Failed, fromRoot, main, pack, run, withFolder } from './lib.mjs';

// First what npm should choose by itself, the newest that fits. On Node 20 nothing else does: the engines of undici 8 ask
// for Node 22.19, those of eventsource-parser 4 for 22.12.
const newest = { undici: 8, 'eventsource-parser': 4 };
const oldest = { undici: 7, 'eventsource-parser': 3 };
const matrix = {
  20: [oldest],
  22: [newest, oldest, { ...newest, undici: 7 }, { ...oldest, undici: 8 }],
  24: [newest, oldest, { ...newest, undici: 7 }, { ...oldest, undici: 8 }],
};

await main(() =>
  withFolder('matrix', async (folder) => {
    const { tarball } = await pack(folder);
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const platform = `node-${process.platform}-${process.arch}`;
    const own = process.versions.node.split('.')[0];
    const others = Object.keys(matrix).filter((major) => major !== own);
    const packages = others.map((major) => `node-${major}@npm:${platform}@${major}`);
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], { cwd: folder });

    const runs = Object.entries(matrix).flatMap(([major, pairs]) =>
      pairs.map((pair, index) => ({ major, pair, chosen: index === 0 })),
    );
    await each(runs, 3, async ({ major, pair, chosen }) => {
      const node = major === own ? process.execPath : join(folder, 'node_modules', `node-${major}`, 'bin', 'node');
      const wanted = Object.entries(pair).map(([name, version]) => `${name}@${version}`);
      const pinned = chosen ? [] : wanted.map((dependency) => `--with=${dependency}`);
      const output = await run(node, [fromRoot('.ci', 'smoke.mjs'), '--quick', '--tarball', tarball, ...pinned]);
      const [versions, ...checks] = output.trim().split('\n');
      for (const text of [`node ${major}.`, ...wanted.map((dependency) => `${dependency.replace('@', ' ')}.`)]) {
        if (!versions.includes(text)) throw new Failed(`${versions}: where is ${text}?`);
      }
      console.log(`ok  ${versions}${chosen ? ", by npm's choice" : ''}: ${checks.length} checks`);
    });
  }),
);
