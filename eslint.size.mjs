/** The rules for the size of functions: at most 60 lines and three parameters. What exceeds them is listed at the end. */
import { builtinRules } from 'eslint/use-at-your-own-risk';

/** Returns an ESLint rule that reports what the built-in rule reports, but for the functions that `isExempt` names. */
function exempt(name, isExempt) {
  const rule = builtinRules.get(name);
  const create = (context) => {
    const report = (problem) => (isExempt(problem.node) ? undefined : context.report(problem));
    return rule.create(Object.create(context, { report: { value: report } }));
  };
  return { meta: rule.meta, create };
}

/** A `describe` callback groups tests: it is no function to read at once. */
const isDescribe = ({ parent }) => parent?.type === 'CallExpression' && /^describe/.test(toName(parent.callee));
/** Jest calls the test of a table with the columns of a row. */
const isTableTest = ({ parent }) => parent?.type === 'CallExpression' && toName(parent.callee).endsWith('.each');

/** Returns the name of what is called, such as `it.each` in `it.each(table)(title, test)`. */
function toName(callee) {
  if (callee.type === 'CallExpression') return toName(callee.callee);
  if (callee.type === 'MemberExpression') return `${toName(callee.object)}.${callee.property.name}`;
  return callee.name ?? '';
}

const rules = {
  'max-lines-per-function': exempt('max-lines-per-function', isDescribe),
  'max-params': exempt('max-params', isTableTest),
};

/** graphql-js calls resolvers, and the functions that wrap them, with (parent, args, context, info). */
const CALLED_BY_GRAPHQL_JS = ['subgraphs/*/src/*/resolvers.ts', 'subgraphs/chassis/src/graphql/*.ts', 'gateway/**/fuzz/**/*.ts'];

/** Functions that still exceed a limit. A file leaves the list when its functions are split; none enters it. */
const TOO_LONG = ['e2e/attack/families/values.ts'];
const TOO_MANY_PARAMETERS = [
  'packages/service/src/admission/admission-handler.test.ts',
  'subgraphs/orders/src/database-faults.test.ts',
  'e2e/attack/families/{crashes,slow-clients}.ts',
  'e2e/attack/wire/http.ts',
];

export default [
  {
    files: ['**/*.ts', '**/*.mjs'],
    plugins: { size: { rules } },
    rules: {
      'size/max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'size/max-params': ['error', 3],
    },
  },
  { files: CALLED_BY_GRAPHQL_JS, rules: { 'size/max-params': 'off' } },
  { files: TOO_LONG, rules: { 'size/max-lines-per-function': 'off' } },
  { files: TOO_MANY_PARAMETERS, rules: { 'size/max-params': 'off' } },
];
