// Every entry point that package.json names loads both ways, and says the same names. ESM_ONLY ones are named by the caller.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
for (const subpath of process.argv.slice(2)) {
  const esm = Object.keys(await import(subpath)).sort();
  const cjs = Object.keys(require(subpath)).sort();
  if (esm.length === 0 || esm.join() !== cjs.join()) throw new Error(`${subpath}: import ${esm}, require ${cjs}`);
}
