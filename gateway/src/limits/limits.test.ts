import { describe, expect, it } from '@jest/globals';
import { buildSchema, getIntrospectionQuery, parse, specifiedRules, validate } from 'graphql';
import { MAX_ALIASES, MAX_DEPTH, limitOperations } from './limits.ts';

const schema = buildSchema('type Query { node: Node } type Node { id: ID, node: Node }');
const check = (source: string) => validate(schema, parse(source), [...specifiedRules, limitOperations]).map(({ message }) => message);
const nest = (levels: number): string => (levels === 1 ? '{ __typename }' : `{ node ${nest(levels - 1)} }`);

describe('the limits of contract §6', () => {
  it(`let a depth of ${String(MAX_DEPTH)} pass and name limit and value of one more`, () => {
    expect(check(nest(MAX_DEPTH + 1))).toEqual([]);
    expect(check(nest(MAX_DEPTH + 2))).toEqual(['The operation has depth 13; the limit is 12']);
  });

  it('see through fragments, and survive cycles', () => {
    expect(
      check(
        '{ node { ...a } } fragment a on Node { node { node { node { node { node { ...b } } } } } } fragment b on Node { node { node { node { node { node { node { id } } } } } } }',
      ),
    ).toEqual(['The operation has depth 13; the limit is 12']);
    expect(check('{ node { ...a } } fragment a on Node { node { ...a } }')).toEqual([
      expect.stringContaining('Cannot spread fragment "a" within itself'),
    ]);
  });

  it('count aliases, also those that a fragment multiplies', () => {
    const aliases = (count: number) => Array.from({ length: count }, (_, i) => `a${String(i)}: id`).join(' ');
    expect(check(`{ node { ${aliases(MAX_ALIASES)} } }`)).toEqual([]);
    expect(check(`{ node { ${aliases(MAX_ALIASES + 1)} } }`)).toEqual(['The operation has aliases 31; the limit is 30']);
    expect(check(`{ x: node { ...f } y: node { ...f } } fragment f on Node { ${aliases(15)} }`)).toHaveLength(1);
  });

  it('let the standard introspection query pass', () => {
    expect(check(getIntrospectionQuery())).toEqual([]);
  });
});
