import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib.mjs';

/** Compiles `file` in `project`, a copy of typed.ts where there is none. The declarations of the package are checked as well, which `skipLibCheck` would hide. */
export async function typescript({ tsc, project, name, file = 'typed.ts', ...options }) {
  if (!existsSync(join(project, file))) cpSync(join(project, 'typed.ts'), join(project, file));
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
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
  await run(process.execPath, [tsc, '-p', config], { cwd: project });
  console.log(`ok  ${name}`);
}
