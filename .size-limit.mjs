// The budgets themselves are in .ci/budgets.json, with those of other bundlers.
import { readFileSync } from 'node:fs';

const budgets = JSON.parse(readFileSync(new URL('.ci/budgets.json', import.meta.url), 'utf8'));
const use = (name, names) => ({
  name,
  path: 'dist/esm/index.js',
  import: names,
  ignore: ['rxjs'],
  gzip: true,
  limit: `${budgets[name]} B`,
});

export default [use('chat completions + textDeltas', '{ createLlmClient, textDeltas }'), use('everything', '*')];
