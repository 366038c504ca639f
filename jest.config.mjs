/** Runs every `*.test.ts` as a native ES module: unit tests beside the code, tests of the whole system in e2e/. */
export default {
  testMatch: [
    '<rootDir>/{schema,packages,subgraphs,gateway,rest-bridge,local}/**/src/**/*.test.ts',
    '<rootDir>/gateway/fuzz/**/*.test.ts',
    '<rootDir>/e2e/**/*.test.ts',
  ],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/generated/'],
  modulePathIgnorePatterns: ['<rootDir>/.trestle/'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^@trestle/(client|env|log|identity|service|telemetry)$': '<rootDir>/packages/$1/src/$1.ts',
    '^@trestle/(env|log|identity|service|telemetry|postgres)/(.*)$': '<rootDir>/packages/$1/src/$2.ts',
    '^@trestle/schema/(.*)$': '<rootDir>/schema/src/$1.ts',
    '^#gateway/(.*)$': '<rootDir>/gateway/src/$1.ts',
    '^@trestle/chassis/(.*)$': '<rootDir>/subgraphs/chassis/src/$1.ts',
  },
  globalSetup: '<rootDir>/jest.postgres.mjs',
  globalTeardown: '<rootDir>/jest.teardown.mjs',
  maxWorkers: 2,
  testTimeout: 60_000,
};
