// Which faults in the code would pass the tests by. All of them take many hours, a file some minutes, and what was found
// is kept for the next run: `npm run mutation -- --mutate src/sse/encode.ts`.
import { fileURLToPath } from 'node:url';

export default {
  testRunner: 'jest',
  plugins: [fileURLToPath(new URL('node_modules/@stryker-mutator/jest-runner/dist/src/index.js', import.meta.url))],
  coverageAnalysis: 'perTest',
  // Not of code that runs when a module is loaded: each of those needs all tests.
  ignoreStatic: true,
  mutate: ['src/{operators,concepts,endpoints,sse}/**/*.ts', '!src/**/*.spec.ts', '!src/**/wire.ts'],
  // Angular cannot be loaded there; the gateway's tests and the slowest of all find nothing that the others do not.
  jest: {
    configFile: 'jest.config.ts',
    config: { testPathIgnorePatterns: ['/src/(angular|gateway)/', '/src/spec/(abuse|faults|relay|corpus)\\.'] },
  },
  ignorePatterns: ['dist', 'reports', 'bench', 'docs', 'examples', '.ci/mutation'],
  reporters: ['clear-text', 'html'],
  htmlReporter: { fileName: 'reports/mutation.html' },
  thresholds: { high: 95, low: 85, break: 85 },
  incremental: true,
  incrementalFile: 'reports/mutation.json',
};
