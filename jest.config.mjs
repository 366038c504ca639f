/**
 * Runs every `*.test.ts` as native ESM, in three projects. `e2e` has what lies in e2e/, and the fuzzer, which compares whole engines. A test
 * beside the code belongs to `postgres` when it, or a file that it imports, uses the database, a process or a thread; otherwise to `unit`.
 */
import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { sortTests } from './jest.projects.mjs';

/**
 * Each test file loads its modules anew and ends soon: less code is compiled to machine code that seldom runs long enough to be worth it. Jest starts
 * its workers with the options of this process. The V8 of Node.js 22 and later does not have this one.
 */
if (process.versions.node.startsWith('20.')) {
  const budget = '--interrupt-budget=500000';
  setFlagsFromString(budget);
  process.execArgv.push(budget);
}

const beside = sortTests(import.meta.dirname);

const shared = {
  rootDir: import.meta.dirname,
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/generated/'],
  // Jest reads every other file before the first test, once for each project. Files in dist/ are still found when a test imports them.
  modulePathIgnorePatterns: ['<rootDir>/.trestle/', '/dist/'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^@trestle/(client|env|log|identity|service|telemetry)$': '<rootDir>/packages/$1/src/$1.ts',
    '^@trestle/(env|files|graph-checks|http-client|multipart|limits|log|identity|service|telemetry|postgres)/(.*)$':
      '<rootDir>/packages/$1/src/$2.ts',
    '^@trestle/schema/(.*)$': '<rootDir>/schema/src/$1.ts',
    '^#gateway/(.*)$': '<rootDir>/gateway/src/$1.ts',
    '^@trestle/chassis/(.*)$': '<rootDir>/subgraphs/chassis/src/$1.ts',
  },
};
/** One for each core. The database server has connections for 8. */
const WORKERS = Math.min(Math.max(availableParallelism(), 2), 8);

/** One server for the whole run: Jest calls a set-up that several projects name only once. */
const database = { globalSetup: '<rootDir>/jest.postgres.mjs', globalTeardown: '<rootDir>/jest.teardown.mjs' };

export default {
  projects: [
    { ...shared, displayName: 'unit', testMatch: beside.unit },
    { ...shared, ...database, displayName: 'postgres', testMatch: beside.postgres },
    { ...shared, ...database, displayName: 'e2e', testMatch: ['<rootDir>/e2e/**/*.test.ts', ...beside.fuzz] },
  ],
  maxWorkers: WORKERS,
  testSequencer: '<rootDir>/jest.sequencer.mjs',
  testTimeout: 120_000,
};
