/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';

const config: Config = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/marbles/**/*.marbles.ts', '<rootDir>/src/**/*.spec.ts'],
  moduleNameMapper: {
    '^rx-llm$': '<rootDir>/src/index.node.ts',
    '^rx-llm/undici$': '<rootDir>/src/undici.ts',
    '^rx-llm/(angular|gateway|testing)$': '<rootDir>/src/$1/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  // Angular is published as ES modules alone.
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json'],
  transformIgnorePatterns: ['/node_modules/(?!@angular/)'],
  transform: {
    '^.+/@angular/.+\\.mjs$': '<rootDir>/.ci/to-commonjs.cjs',
    // Types are checked by `npm run typecheck`; here each file is only transpiled.
    '^.+\\.ts$': [
      'ts-jest',
      {
        tsconfig: {
          target: 'ES2022',
          module: 'commonjs',
          moduleResolution: 'node10',
          esModuleInterop: true,
          isolatedModules: true,
          sourceMap: true,
        },
        diagnostics: { ignoreCodes: [151002] },
      },
    ],
  },
};

export default config;
