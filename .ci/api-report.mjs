// Writes the public surface of each entry point to docs/api/NAME.api.md; with --check, fails when it differs from what
// is committed. Reads dist/, so build first.
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPoints, Failed, fromRoot, main, run } from './lib.mjs';

const check = process.argv.includes('--check');
const committed = fromRoot('docs', 'api');
const declaration = /^(export )?(?:declare )?(?:abstract )?(?:interface|class|type|function|const) (\w+)/m;
const faults = [];
const temp = mkdtempSync(join(tmpdir(), 'rx-llm-api-'));

await main(async () => {
  try {
    // index and index.node differ in their default transport alone: one report speaks for both.
    const [node, ...entries] = entryPoints('esm').sort((a, b) => isNode(b) - isNode(a));
    const reports = entries.map((entry) => report(entry));
    const found = [...faults];
    sameSurface(report({ ...node, name: 'index.node' }), reports[0]);
    if (found.length > 0) throw new Failed(`The public surface has faults.\n\n${found.join('\n')}`);
    if (check) await compare(reports);
    else write(reports);
    for (const { file, text } of reports) {
      const undocumented = text.split('(undocumented)').length - 1;
      console.log(`${file.padEnd(20)} ${text.split('\n').length} lines, ${undocumented} undocumented`);
    }
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
});

function isNode({ conditions }) {
  return conditions.includes('node');
}

function write(reports) {
  rmSync(committed, { recursive: true, force: true });
  mkdirSync(committed, { recursive: true });
  for (const { file, text } of reports) writeFileSync(join(committed, file), text);
}

async function compare(reports) {
  const fresh = join(temp, 'api');
  mkdirSync(fresh);
  for (const { file, text } of reports) writeFileSync(join(fresh, file), text);
  await run('git', ['diff', '--no-index', '--stat', '--patch', committed, fresh]).catch((difference) => {
    throw new Failed(`The public surface differs from docs/api.
Run \`npm run build && npm run api\`, look at the difference, and commit it.\n\n${difference.message}`);
  });
}

function report({ name, types }) {
  if (!existsSync(types)) throw new Failed(`${types} is missing: run \`npm run build\` first.`);
  const file = `${name}.api.md`;
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: fromRoot('package.json'),
    configObject: {
      projectFolder: fromRoot(),
      mainEntryPointFilePath: types,
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'ES2022',
            module: 'nodenext',
            lib: ['ES2022', 'DOM', 'DOM.Iterable'],
            types: ['node'],
            strict: true,
            skipLibCheck: true,
          },
          files: [types],
        },
      },
      apiReport: {
        enabled: true,
        includeForgottenExports: true,
        reportFolder: temp,
        reportTempFolder: temp,
        reportFileName: file,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.Warning },
          'ae-missing-release-tag': { logLevel: ExtractorLogLevel.None },
          'ae-undocumented': { logLevel: ExtractorLogLevel.None },
          'ae-forgotten-export': { logLevel: ExtractorLogLevel.Error },
        },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.Warning } },
      },
    },
  });
  const messages = [];
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback(message) {
      const bad = message.logLevel === ExtractorLogLevel.Error || message.logLevel === ExtractorLogLevel.Warning;
      const isDifference = message.messageId.startsWith('console-api-report');
      const text = message.formatMessageWithLocation(fromRoot());
      if (bad && !isDifference) messages.push({ id: message.messageId, text });
      message.handled = true;
    },
  });
  const text = readFileSync(join(temp, file), 'utf8');
  const exported = name.startsWith('index') ? '' : readFileSync(join(temp, 'index.api.md'), 'utf8');
  for (const { id, text: message } of messages) {
    const symbol = /The symbol "(.*?)"|have an export "(.*?)"/.exec(message)?.slice(1).join('');
    // Subpaths may speak of what `rx-llm` itself exports: one type, one place to import it from.
    // A name that stands for two things in one report has a number added to the second.
    if (symbol && new RegExp(`^export .*\\b${symbol.replace(/_\d+$/, '')}\\b`, 'm').test(exported)) continue;
    if (id === 'ae-forgotten-export' && !needsName(symbol, text)) continue;
    faults.push(`${name}: ${message}`);
  }
  return { file, text: withoutRepeats(text, exported) };
}

/** A report without what says nothing: of a subpath, what the report of `rx-llm` itself declares already. */
function withoutRepeats(text, indexText) {
  const known = new Set([...indexText.matchAll(new RegExp(declaration, 'gm'))].map(([, , name]) => name));
  return (
    text
      // Remarks with line numbers would change with every line of a source.
      .replace(/^\/\/ Warnings were encountered[^]*?\n\n(?=\/\/ \(No|```)/m, '')
      .split(/(?=^\/\/ @)/m)
      .filter((block) => {
        const [, isExported, name] = declaration.exec(block) ?? [];
        return name === undefined || isExported || !known.has(name.replace(/_\d+$/, ''));
      })
      .join('')
  );
}

/**
 * Whether users may have to write the name of something that is not exported. Not of functions, which they reach as
 * members of what is exported; not of bases, whose members show in the types made from them; and not of generic aliases,
 * which only compute another type.
 */
function needsName(symbol, report) {
  if (new RegExp(`^(declare )?(function ${symbol}\\b|type ${symbol}<)`, 'm').test(report)) return false;
  const declared = new RegExp(`^(declare )?(abstract )?(interface|class|type) ${symbol}\\b`);
  const asBase = new RegExp(
    `\\bextends\\b.*\\b${symbol}\\b|& ${symbol}\\b|\\b${symbol} &|\\bEachType<.*\\b${symbol}\\b`,
  );
  return report
    .split('\n')
    .filter((line) => !line.startsWith('//') && new RegExp(`(?<![.'"\\w])${symbol}\\b(?!["':?(])`).test(line))
    .some((line) => !declared.test(line) && !asBase.test(line));
}

function sameSurface(node, browser) {
  const declarations = ({ text }) =>
    text
      .match(/^export .*$/gm)
      ?.sort()
      .join('\n');
  if (declarations(node) !== declarations(browser)) {
    throw new Failed(
      'index.ts and index.node.ts export different things: a program would compile for one platform only.',
    );
  }
}
