// Packs once, and looks at that tarball with publint, @arethetypeswrong/cli and a few rules of our own.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { bin, Failed, main, pack, readJson, fromRoot, run, withFolder } from './lib.mjs';

const wanted = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist/cjs/package.json'];
const unwanted =
  /\.spec\.|\/spec\/|\.map$|\.tsbuildinfo$|(^|\/)\.|^(?!dist\/|docs\/[\w-]+\.md|bench\/RESULTS\.md|package\.json|README|LICENSE|CHANGELOG|CONTRIBUTING)/;
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
    const dead = paths.filter((path) => /^(README|docs\/.*)\.md$/.test(path)).flatMap((path) => deadLinks(path, paths));
    if (dead.length > 0) throw new Failed(`In the package these links lead nowhere: ${dead.join(', ')}`);
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

/** Links of a page to other files that are not packed; the examples are told to be in the repository. */
function deadLinks(page, paths) {
  return [...readFileSync(fromRoot(page), 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target]) => target)
    .filter((target) => !/^https?:/.test(target))
    .map((target) => posix.join(posix.dirname(page), target))
    .filter((target) => !paths.includes(target) && !target.startsWith('examples/'))
    .map((target) => `${page}: ${target}`);
}

function kB(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
