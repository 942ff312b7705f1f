import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { call, chat, jsonOf } from '../spec/support/gateway-client.js';

const folder = mkdtempSync(join(tmpdir(), 'rx-llm-cli-'));
const file = join(folder, 'dist', 'esm', 'gateway', 'cli.mjs');
beforeAll(() => {
  buildSync({ entryPoints: [join(__dirname, 'cli.ts')], bundle: true, platform: 'node', format: 'esm', outfile: file });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly child: ChildProcess;
  output(): string;
  readonly exit: Promise<number | null>;
}

function run(...args: string[]): Run {
  const child = spawn(process.execPath, [file, ...args]);
  let output = '';
  child.stdout.on('data', (part: Buffer) => (output += part.toString()));
  child.stderr.on('data', (part: Buffer) => (output += part.toString()));
  return { child, output: () => output, exit: new Promise((resolve) => child.on('exit', resolve)) };
}

jest.setTimeout(20_000); // processes are started

describe('rx-llm-gateway', () => {
  it('tells of every option with --help', async () => {
    const { output, exit } = run('--help');
    expect(await exit).toBe(0);
    for (const option of [
      '--port',
      '--dialect',
      '--tokens-per-second',
      '--ttft',
      '--fault',
      '--script',
      '--api-key',
      'x-gateway-fault',
      'x-gateway-pace',
    ]) {
      expect(output()).toContain(option);
    }
  });

  it.each([
    [['--dialect', 'c'], '--dialect must be a or b'],
    [['--port', 'x'], '--port must be a number'],
    [['--fault', 'explode'], 'Unknown fault'],
    [['--jitter', '7'], 'jitter must be from 0 to 1'],
    [['--what'], '--what'],
  ])('says what is wrong with %j', async (args, reason) => {
    const { output, exit } = run(...args);
    expect(await exit).toBe(1);
    expect(output()).toContain(reason);
    expect(output()).not.toContain('    at ');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('serves until %s, also while an answer runs', async (signal) => {
    const { child, output, exit } = run(
      '--port',
      '0',
      '--dialect',
      'b',
      '--tokens-per-second',
      '500',
      '--ttft',
      '1',
      '--script',
      'none',
      '--script',
      'stall=2',
    );
    let url: string | undefined;
    while (!(url = /http:\S+\/v1/.exec(output())?.[0])) await new Promise((resolve) => setTimeout(resolve, 20));
    const reply = await call(url, '/v1/chat/completions', { body: chat('Say "one two"') });
    expect(jsonOf(reply.text).at(-1)).toHaveProperty('cost_usd');
    const stalled = call(url, '/v1/chat/completions', { body: chat('Say "one two three"') });
    await new Promise((resolve) => setTimeout(resolve, 100));
    child.kill(signal);
    expect(await exit).toBe(0);
    expect((await stalled).error).toBe('ECONNRESET');
    expect(output()).toMatch(/POST \/v1\/chat\/completions 200 completed 2\/2 tokens \$0\.\d+/);
  });
});
