// Packs once, and looks at that tarball with publint, @arethetypeswrong/cli and a few rules of our own.
import { bin, Failed, main, pack, readJson, fromRoot, run, withFolder } from './lib.mjs';

const wanted = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist/cjs/package.json'];
const unwanted = /\.spec\.|\/spec\/|\.map$|\.tsbuildinfo$|(^|\/)\.|^(?!dist\/|package\.json|README|LICENSE|CHANGELOG)/;
const maxUnpackedBytes = 2_000_000;

await main(() =>
  withFolder('package', async (folder) => {
    const { tarball, files, size, unpackedSize } = await pack(folder);
    const paths = files.map(({ path }) => path);
    const missing = wanted.filter((path) => !paths.includes(path));
    const extra = paths.filter((path) => unwanted.test(path));
    if (missing.length > 0) throw new Failed(`The package lacks ${missing.join(', ')}`);
    if (extra.length > 0) throw new Failed(`The package holds what it should not: ${extra.join(', ')}`);
    if (unpackedSize > maxUnpackedBytes) throw new Failed(`The package unpacks to ${unpackedSize} bytes`);
    console.log(`${paths.length} files, ${kB(size)} packed, ${kB(unpackedSize)} unpacked`);

    await run(bin('publint'), ['run', tarball, '--strict']);
    console.log('publint --strict: all good');
    // Subpaths without a `require` condition are for ES modules alone, by design.
    const esmOnly = Object.entries(readJson(fromRoot('package.json')).exports)
      .filter(([, target]) => typeof target === 'object' && !('require' in target))
      .map(([subpath]) => subpath);
    const exclude = esmOnly.length > 0 ? ['--exclude-entrypoints', ...esmOnly] : [];
    const report = await run(bin('attw'), [tarball, '--profile', 'node16', '--no-emoji', ...exclude]);
    const entries = report.match(/^"rx-llm.*"$/gm) ?? [];
    console.log(`attw: no problems in ${entries.join(' ')}`);
  }),
);

function kB(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
