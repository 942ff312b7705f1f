// What the scripts of this folder share. Nothing here is published.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
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
