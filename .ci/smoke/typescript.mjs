import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib.mjs';

/** Compiles `files` in `project`. The declarations of the package are checked as well, which `skipLibCheck` would hide. */
export async function typescript({ tsc, project, name, files = ['typed.ts'], ...options }) {
  const compilerOptions = {
    target: 'ES2022',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    rootDir: '.',
    outDir: 'out',
    ...options,
  };
  const config = join(project, `tsconfig.${name.replace(/\W+/g, '-')}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  await run(process.execPath, [tsc, '-p', config], { cwd: project });
  console.log(`ok  ${name}`);
}
