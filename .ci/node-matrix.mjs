// Runs the smoke test of one packed tarball on other versions of Node: for each, npm picks the newest undici and
// eventsource-parser that fit. The Node binaries come as npm packages, of this platform.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failed, fromRoot, main, pack, run, withFolder } from './lib.mjs';

const expected = {
  20: { undici: 7, 'eventsource-parser': 3 },
  22: { undici: 8, 'eventsource-parser': 4 },
  24: { undici: 8, 'eventsource-parser': 4 },
};

await main(() =>
  withFolder('matrix', async (folder) => {
    const { tarball } = await pack(folder);
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const other = Object.keys(expected).filter((major) => major !== process.versions.node.split('.')[0]);
    const platform = `node-${process.platform}-${process.arch}`;
    const packages = other.map((major) => `node-${major}@npm:${platform}@${major}`);
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], { cwd: folder });
    for (const major of other) {
      const node = join(folder, 'node_modules', `node-${major}`, 'bin', 'node');
      const output = await run(node, [fromRoot('.ci', 'smoke.mjs'), '--quick', '--tarball', tarball]);
      console.log(output.trim());
      for (const [name, version] of Object.entries(expected[major])) {
        if (!output.includes(`${name} ${version}.`))
          throw new Failed(`Node ${major} should come with ${name} ${version}`);
      }
    }
  }),
);
