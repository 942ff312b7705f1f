// Looks for links that lead nowhere in the Markdown, and type-checks every ```ts block of the README, CONTRIBUTING, docs/ and the doc comments of src/, against the sources.
// Errors carry the line of the original file. Blocks that import a framework which is not installed are counted apart.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { Failed, fromRoot, main, root } from './lib.mjs';

/** NestJS is at hand where its example has been installed. */
const nest = 'examples/nest/node_modules';

await main(() => {
  const folder = mkdtempSync(join(tmpdir(), 'rx-llm-examples-'));
  try {
    symlinkSync(fromRoot('node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    deadLinks();
    const all = sources().flatMap(blocksOf);
    const blocks = all.filter(({ code }) => frameworksOf(code).every(isInstalled));
    const origins = new Map();
    for (const [index, { path, line, code }] of blocks.entries()) {
      // The blocks of one page stand side by side: one that begins with `// name.ts` can be imported by the others.
      const page = join(folder, path.replace(/\W+/g, '-'));
      const name = /^\/\/ ([\w.-]+\.ts)\n/.exec(code)?.[1] ?? `${index}.ts`;
      const file = join(page, name);
      mkdirSync(page, { recursive: true });
      // As many empty lines as stand above the block, so that line numbers agree.
      writeFileSync(file, '\n'.repeat(line) + code);
      origins.set(file, path);
    }
    const faults = diagnose([...origins.keys()]);
    for (const { file, line, text } of faults) console.error(`${origins.get(file)}:${line}: ${text}`);
    if (faults.length > 0) throw new Failed(`\n${faults.length} errors in ${blocks.length} examples`);
    if (blocks.length === 0) throw new Failed('found no example at all');
    const skipped = all.length - blocks.length;
    console.log(
      `${blocks.length} examples compile${skipped ? `; ${skipped} need a framework that is not installed` : ''}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function sources() {
  const below = (folder, pattern) =>
    existsSync(fromRoot(folder))
      ? readdirSync(fromRoot(folder), { recursive: true })
          .filter((path) => pattern.test(path))
          .map((path) => fromRoot(folder, path))
      : [];
  const markdown = below('docs', /\.md$/).filter((path) => !path.endsWith('.api.md'));
  const code = below('src', /\.ts$/).filter((path) => !path.endsWith('.spec.ts'));
  return [...['README.md', 'CONTRIBUTING.md'].map((file) => fromRoot(file)).filter(existsSync), ...markdown, ...code];
}

function deadLinks() {
  const dead = sources()
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .filter(([, link]) => !existsSync(join(dirname(path), link)))
        .map(([, link]) => `${relative(root, path)}: ${link} does not exist`),
    );
  if (dead.length > 0) throw new Failed(dead.join('\n'));
}

/** The ```ts blocks of a file: in Markdown as they stand, in source files from doc comments. */
function blocksOf(path) {
  const blocks = [];
  const margin = path.endsWith('.ts') ? /^\s*\* ?/ : /^/;
  let open;
  for (const [index, whole] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (!margin.test(whole)) {
      open = undefined;
      continue;
    }
    const line = whole.replace(margin, '');
    if (open) {
      if (line.trim() === '```') {
        blocks.push({ path: relative(root, path), line: open.line, code: `${open.lines.join('\n')}\n` });
        open = undefined;
      } else open.lines.push(line);
    } else if (/^\s*```(ts|typescript)$/.test(line)) open = { line: index + 1, lines: [] };
  }
  return blocks;
}

function frameworksOf(code) {
  return [...code.matchAll(/from '(@(?:angular|nestjs)\/[^/']+)/g)].map((match) => match[1]);
}

function isInstalled(name) {
  return existsSync(fromRoot('node_modules', name)) || existsSync(fromRoot(nest, name));
}

function diagnose(files) {
  const config = ts.readConfigFile(fromRoot('tsconfig.json'), ts.sys.readFile).config;
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const program = ts.createProgram(files, {
    ...options,
    pathsBasePath: root,
    paths: { ...options.paths, '@nestjs/*': [`./${nest}/@nestjs/*/index.d.ts`] },
    moduleDetection: ts.ModuleDetectionKind.Force,
    experimentalDecorators: true,
    noUnusedLocals: false,
    typeRoots: [fromRoot('node_modules', '@types')],
  });
  return files.flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((fault) => ({
      file,
      line: source.getLineAndCharacterOfPosition(fault.start).line + 1,
      text: ts.flattenDiagnosticMessageText(fault.messageText, '\n  '),
    }));
  });
}
