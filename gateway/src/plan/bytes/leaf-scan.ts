/** Generates the code that scans leaves. */
import { type GraphQLOutputType, isEnumType } from 'graphql';
import { matches } from './walker-text.ts';

const SCANS: Readonly<Record<string, string>> = {
  Int: 'p=scan.int(b,p);',
  Float: 'p=scan.float(b,p);',
  String: 'p=b[p]===34?scan.string(b,p+1):0;',
  Boolean: `p=${matches('true')}?p+4:${matches('false')}?p+5:0;`,
};

/** Returns a statement that scans a leaf (GraphQL §3.5, §3.9) that is no ID. Values of custom scalars are kept as the subgraph gives them. */
export function scanLeaf(type: GraphQLOutputType): string {
  if (!isEnumType(type)) return SCANS[String(type)] ?? 'p=scan.any(b,p);';
  const cases = type.getValues().map(({ name }) => `${matches(`"${name}"`)}?p+${name.length + 2}:`);
  return `p=${cases.join('')}0;`;
}
