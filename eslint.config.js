import js from '@eslint/js';
import tsdoc from 'eslint-plugin-tsdoc';
import { defineConfig } from 'eslint/config';
import { builtinModules } from 'node:module';
import tseslint from 'typescript-eslint';

const ban = (group, message) => ({ group, message });

const onlyRxjs = ban(['rxjs/*', '!rxjs/testing'], "Import from 'rxjs'; its other paths are deprecated or private.");
const noBarrel = ban(
  ['./index.js', '../index.js', '**/../index.js', '**/index.node.js', 'rx-llm', 'rx-llm/*'],
  'The entry points are for users. Import the module that has it.',
);
const noPlatform = {
  regex: `^(undici|node:.*|${builtinModules.join('|')})(/.*)?$`,
  message: 'This module is reachable from the browser entry. Node belongs to transport/undici.ts and gateway/.',
};
const noFramework = ban(
  ['@angular/*', '@nestjs/*', 'openai', '@anthropic-ai/*'],
  'Only src/angular knows a framework.',
);
const noRxjs = ban(['rxjs', 'rxjs/*'], 'Endpoints and readers are plain state machines; operators bring RxJS.');

const imports = (...patterns) => ({ '@typescript-eslint/no-restricted-imports': ['error', { patterns }] });

const tests = ['**/*.spec.ts', 'src/spec/**', 'marbles/**'];
const nodeOnly = ['src/undici.ts', 'src/*.node.ts', 'src/transport/undici*.ts', 'src/gateway/**'];

export default defineConfig(
  {
    ignores: [
      'dist/',
      'coverage/',
      'reports/',
      'node_modules/',
      'examples/*/',
      '.ci/smoke/*.ts',
      '.ci/smoke/*.cjs',
      '.ci/smoke/*.vitest.mjs',
      '.ci/smoke/browser.mjs',
      'bench/**/*.json',
      'docs/',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        Object.getOwnPropertyNames(globalThis)
          .filter((name) => !/^(Infinity|NaN|undefined)$/.test(name))
          .map((name) => [name, 'readonly']),
      ),
    },
    rules: { eqeqeq: ['error', 'always', { null: 'ignore' }] },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { tsdoc },
    rules: {
      'tsdoc/syntax': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/consistent-type-exports': ['error', { fixMixedExportsWithInlineTypeSpecifier: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // `next: (value) => seen.push(value)` is how RxJS code is written.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Readers and handlers are closures in object literals: their methods have no `this` to lose.
      '@typescript-eslint/unbound-method': 'off',
      // Wire data is untrusted: a field may be missing whatever its type says, and checking it is no mistake.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // `[...text]` is how text is taken apart by code points.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // LlmClient is an interface that doubles as a token for dependency injection: what fits its shape is one.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-generated-empty-object-type': 'off',
      ...imports(onlyRxjs),
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: tests,
    rules: {
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        { selector: 'ExportAllDeclaration', message: 'Name what is exported: the surface is chosen, not inherited.' },
        { selector: 'Decorator', message: "Decorated classes built by tsc need Angular's JIT compiler at run time." },
        { selector: 'TSEnumDeclaration', message: 'Use a union of literals.' },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: [...tests, ...nodeOnly, 'src/angular/**'],
    rules: {
      ...imports(onlyRxjs, noBarrel, noPlatform, noFramework),
      'no-restricted-globals': [
        'error',
        ...['process', 'Buffer', 'setImmediate', 'require', '__dirname', 'console'].map((name) => ({
          name,
          message: 'This module runs in browsers too, and a library does not print.',
        })),
        ...['setTimeout', 'setInterval'].map((name) => ({
          name,
          message: 'Time goes through RxJS schedulers, so that tests can run it virtually.',
        })),
      ],
    },
  },
  {
    files: [
      'src/endpoints/**',
      'src/concepts/**',
      'src/usage.ts',
      'src/tool-call.ts',
      'src/events.ts',
      'src/errors.ts',
    ],
    ignores: tests,
    rules: imports(noRxjs, noBarrel, noPlatform, noFramework),
  },
  { files: nodeOnly, ignores: tests, rules: imports(onlyRxjs, noBarrel, noFramework) },
  // The entry for Node is the other one with one name replaced.
  { files: ['src/index.node.ts'], rules: { 'no-restricted-syntax': 'off', ...imports() } },
  { files: ['src/angular/**'], ignores: tests, rules: imports(onlyRxjs, noBarrel, noPlatform) },
  {
    files: tests,
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': false }],
      '@typescript-eslint/no-base-to-string': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // Jest's asymmetric matchers are typed `any`.
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
  { files: ['jest.config.ts'], rules: { 'tsdoc/syntax': 'off' } },
);
