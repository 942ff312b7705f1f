// What a program carries: bytes in a browser's bundle, and what an install puts on the disk.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));
const kb = (bytes) => (bytes / 1000).toFixed(1);
const table = (head, rows) =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const OURS = './dist/esm/index.js';
/** The same task for each: one chat stream, its text printed. */
const ENTRIES = [
  [
    'rx-llm: chat + textDeltas, beside rxjs',
    `import { createLlmClient, textDeltas } from '${OURS}'; createLlmClient({ baseUrl: '/v1' }).chatCompletions({ model: 'm', messages: [] }).pipe(textDeltas()).subscribe(console.log);`,
    ['rxjs'],
  ],
  ['rx-llm: everything, beside rxjs', `export * from '${OURS}';`, ['rxjs']],
  [
    'rx-llm: chat + textDeltas, with rxjs',
    `import { createLlmClient, textDeltas } from '${OURS}'; createLlmClient({ baseUrl: '/v1' }).chatCompletions({ model: 'm', messages: [] }).pipe(textDeltas()).subscribe(console.log);`,
  ],
  [
    'openai',
    `import OpenAI from 'openai'; const client = new OpenAI({ apiKey: 'x', baseURL: '/v1', dangerouslyAllowBrowser: true }); for await (const chunk of await client.chat.completions.create({ model: 'm', messages: [], stream: true })) console.log(chunk.choices[0]?.delta?.content);`,
  ],
  [
    '@anthropic-ai/sdk',
    `import Anthropic from '@anthropic-ai/sdk'; const client = new Anthropic({ apiKey: 'x', baseURL: '/v1', dangerouslyAllowBrowser: true }); for await (const event of await client.messages.create({ model: 'm', max_tokens: 9, messages: [], stream: true })) console.log(event);`,
  ],
  [
    'ai + @ai-sdk/openai-compatible',
    `import { streamText } from 'ai'; import { createOpenAICompatible } from '@ai-sdk/openai-compatible'; for await (const text of streamText({ model: createOpenAICompatible({ baseURL: '/v1', name: 'x' })('m'), prompt: 'hi' }).textStream) console.log(text);`,
  ],
  [
    'ai + @ai-sdk/openai',
    `import { streamText } from 'ai'; import { createOpenAI } from '@ai-sdk/openai'; for await (const text of streamText({ model: createOpenAI({ baseURL: '/v1', apiKey: 'x' }).chat('m'), prompt: 'hi' }).textStream) console.log(text);`,
  ],
  [
    '@langchain/openai',
    `import { ChatOpenAI } from '@langchain/openai'; for await (const chunk of await new ChatOpenAI({ model: 'm', apiKey: 'x' }).stream('hi')) console.log(chunk.content);`,
  ],
];

export const sizes = {
  title: 'Bundles: one chat stream in a browser (esbuild, minified, KB of 1,000 bytes)',
  async run() {
    const rows = [];
    for (const [name, contents, external = []] of ENTRIES) {
      const ours = name.startsWith('rx-llm');
      const { outputFiles } = await build({
        stdin: { contents, resolveDir: ours ? root : here },
        bundle: true,
        minify: true,
        write: false,
        format: 'esm',
        platform: 'browser',
        target: 'es2022',
        external,
        logLevel: 'silent',
        define: { 'process.env.NODE_ENV': '"production"' },
      });
      const code = outputFiles[0].contents;
      rows.push([name, kb(code.length), kb(gzipSync(code, { level: 9 }).length), kb(brotliCompressSync(code).length)]);
    }
    return table(['', 'min', 'gzip', 'brotli'], rows);
  },
};

const versions = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).dependencies;
const at = (name) => `${name}@${versions[name]}`;

export const footprints = {
  title: 'Installs: `npm install` into an empty folder',
  run() {
    const packed = mkdtempSync(join(tmpdir(), 'rx-llm-pack-'));
    const npm = (args, cwd) => execFileSync('npm', [...args, '--loglevel=error'], { cwd, encoding: 'utf8' });
    const [{ filename }] = JSON.parse(
      npm(['pack', '--json', '--ignore-scripts', `--pack-destination=${packed}`], root),
    );
    const sets = [
      ['rx-llm + rxjs', [join(packed, filename), 'rxjs@7.8']],
      ['openai', [at('openai')]],
      ['@anthropic-ai/sdk', [at('@anthropic-ai/sdk')]],
      ['ai + @ai-sdk/openai-compatible', [at('ai'), at('@ai-sdk/openai-compatible'), at('zod')]],
      ['ai + @ai-sdk/openai', [at('ai'), at('@ai-sdk/openai'), at('zod')]],
      ['@langchain/openai', [at('@langchain/openai'), at('@langchain/core')]],
    ];
    const rows = [];
    try {
      for (const [name, packages] of sets) {
        const folder = mkdtempSync(join(tmpdir(), 'rx-llm-install-'));
        cpSync(join(here, '.npmrc'), join(folder, '.npmrc'));
        writeFileSync(join(folder, 'package.json'), '{ "private": true }');
        npm(['install', '--ignore-scripts', '--omit=peer', ...packages], folder);
        const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
        const bytes = Number(
          execFileSync('du', ['-sb', join(folder, 'node_modules')], { encoding: 'utf8' }).split('\t')[0],
        );
        const files = execFileSync('find', [join(folder, 'node_modules'), '-type', 'f'], { encoding: 'utf8' });
        rows.push([
          name,
          Object.keys(lock.packages).length - 1,
          (bytes / 1e6).toFixed(1),
          files.split('\n').length - 1,
        ]);
        rmSync(folder, { recursive: true, force: true });
      }
    } finally {
      rmSync(packed, { recursive: true, force: true });
    }
    return table(['', 'packages', 'MB', 'files'], rows);
  },
};
