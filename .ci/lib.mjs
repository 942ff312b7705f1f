// What the scripts of this folder share. Nothing here is published.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const fromRoot = (...parts) => join(root, ...parts);
export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
export const bin = (name) => fromRoot('node_modules', '.bin', name);

/** Runs a program to its end; rejects with its output when it fails. `echo` shows the output as it comes. */
export function run(command, args, { echo = false, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    const collect = (stream, to) =>
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
        if (echo) to.write(text);
      });
    collect(child.stdout, process.stdout);
    collect(child.stderr, process.stderr);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else
        reject(
          new Failed(
            `${[command.split('/').at(-1), ...args].join(' ')} ended with ${signal ?? code}`,
            echo ? '' : output,
          ),
        );
    });
  });
}

/** Does `work` for each item, `limit` at a time; after a failure none is begun. */
export async function each(items, limit, work) {
  const waiting = [...items];
  await Promise.all(
    Array.from({ length: limit }, async () => {
      while (waiting.length > 0) {
        await work(waiting.shift()).catch((error) => {
          waiting.length = 0;
          throw error;
        });
      }
    }),
  );
}

/** A failure whose message is all there is to say: no stack. */
export class Failed extends Error {
  constructor(message, output = '') {
    super(output ? `${message}\n\n${output.trimEnd()}` : message);
  }
}

/** Runs a script's main function; a failure is printed and turns the exit code red. */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    console.error(error instanceof Failed ? error.message : error);
    process.exitCode = 1;
  }
}

/**
 * The entry points that package.json's `exports` names for one format: `{ name, subpath, conditions, types, file }`
 * for each file, once. `name` is `index` for `.`, else the subpath.
 */
export function entryPoints(format) {
  const condition = format === 'esm' ? 'import' : 'require';
  const found = new Map();
  const visit = (subpath, node, conditions) => {
    if (typeof node === 'string') return;
    if (node.default?.startsWith(`./dist/${format}/`)) {
      if (!found.has(node.default)) {
        found.set(node.default, {
          name: subpath === '.' ? 'index' : subpath.slice(2),
          subpath,
          conditions: conditions.filter((name) => name !== condition),
          types: fromRoot(node.types),
          file: fromRoot(node.default),
        });
      }
      return;
    }
    for (const [name, child] of Object.entries(node)) {
      if (name !== 'types' && typeof child === 'object') visit(subpath, child, [...conditions, name]);
    }
  };
  for (const [subpath, node] of Object.entries(readJson(fromRoot('package.json')).exports)) visit(subpath, node, []);
  return [...found.values()];
}

/** A folder of its own for `body`, removed afterwards. */
export async function withFolder(name, body) {
  const folder = mkdtempSync(join(tmpdir(), `rx-llm-${name}-`));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Packs what dist/ holds now, as `npm publish` would, and returns what npm says of it with the path of the tarball. */
export async function pack(folder) {
  if (!existsSync(fromRoot('dist', 'cjs', 'package.json'))) throw new Failed('dist/ is missing: run `npm run build`.');
  const json = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]);
  // npm has answered with a list and with an object keyed by name.
  const [packed] = Object.values(JSON.parse(json));
  return { ...packed, tarball: join(folder, packed.filename) };
}
