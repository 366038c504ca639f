import comments from '@eslint-community/eslint-plugin-eslint-comments';
import js from '@eslint/js';
import jsdoc from 'eslint-plugin-jsdoc';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';
import functionSize from './eslint.size.mjs';

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
    files: ['**/*.mjs', 'examples/**/*.js'],
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
    files: ['**/config.ts', '**/*.config.ts', '**/*.test.ts', 'e2e/**/*.ts', 'schema/src/generate.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // A directive that switches a rule off names the rule, and states its reason behind `--`.
    plugins: { comments },
    rules: { 'comments/require-description': ['error', { ignore: ['eslint-enable'] }], 'comments/no-unlimited-disable': 'error' },
  },
  ...functionSize,
  {
    files: ['packages/*/src/**/*.ts', 'subgraphs/chassis/src/**/*.ts'],
    ignores: ['**/*.test.ts'],
    plugins: { jsdoc },
    rules: {
      'jsdoc/require-jsdoc': [
        'error',
        {
          publicOnly: true,
          enableFixer: false,
          require: { FunctionDeclaration: true, ClassDeclaration: true },
          contexts: ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'VariableDeclaration'].map(
            (declaration) => `ExportNamedDeclaration > ${declaration}`,
          ),
        },
      ],
    },
  },
);
