import js from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const onlyConfigReadsTheEnvironment = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only config.ts reads the environment.',
};

const NODE_GLOBALS = ['process', 'globalThis', 'console', 'performance', 'fetch', 'URL', 'Buffer', 'setImmediate', 'setTimeout'];

export default tseslint.config(
  { ignores: ['**/dist/**', '**/generated/**', '**/node_modules/**', '.trestle/**'] },
  js.configs.recommended,
  {
    // Input of a client must not block a process: a regular expression must take time linear in the length of its input.
    plugins: { regexp },
    rules: { 'regexp/no-super-linear-backtracking': ['error', { report: 'certain' }], 'regexp/no-super-linear-move': 'error' },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: Object.fromEntries(NODE_GLOBALS.map((name) => [name, 'readonly'])) },
  },
  {
    files: ['gateway/graphiql/app.js'],
    languageOptions: {
      globals: Object.fromEntries(
        ['document', 'fetch', 'globalThis', 'location', 'URL', 'Worker', 'WORKERS'].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      'no-restricted-syntax': ['error', onlyConfigReadsTheEnvironment],
      '@typescript-eslint/consistent-type-imports': 'error',
      // This rule prefers `!` to a type assertion, but `!` is forbidden.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['{schema,local}/src/**/*.ts', 'packages/{env,identity,log,postgres,telemetry}/src/**/*.ts', 'subgraphs/*/src/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 60 }], 'max-params': ['error', { max: 3 }] },
  },
  {
    // graphql-js and graphql-ws call resolvers and handlers with four arguments.
    files: ['subgraphs/*/src/*/resolvers.ts', 'subgraphs/chassis/src/{graphql,sockets}/*.ts'],
    rules: { 'max-params': ['error', { max: 4 }] },
  },
  {
    files: ['**/config.ts', '**/*.config.ts', '**/*.test.ts', 'e2e/**/*.ts', 'schema/src/generate.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
