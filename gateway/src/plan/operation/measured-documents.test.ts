/** Documents above limits that are measured: they are read, with what they exceed. */
import { describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { DEFAULT_LIMITS, type Limits } from '../../limits/limits.ts';
import { CEILINGS } from '../../limits/measured-limits.ts';
import { createOperationReader } from './read-operation.ts';

const schema = buildSchema(`
  directive @defer(label: String, if: Boolean! = true) on FRAGMENT_SPREAD | INLINE_FRAGMENT
  type Query { node(in: In): Node }
  type Node { id: ID node: Node }
  input In { in: In }
`);
const LOW = { maxDepth: 2, maxAliases: 1, maxRootFields: 1, maxSelections: 10, maxInputDepth: 1, maxDeferred: 1 };
const read = (query: string, limits: Partial<Limits> = {}) =>
  createOperationReader({
    schema,
    limits: { ...DEFAULT_LIMITS, ...LOW, mode: 'measure', ...limits },
    findProtection: () => undefined,
    renameAliases: (document) => document,
  })({ query, operationName: undefined, isIncremental: true }, Infinity).exceeded;
const repeat = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join(' ');
const nest = (levels: number): string => (levels === 1 ? '{ id }' : `{ node ${nest(levels - 1)} }`);

describe('an operation above limits that are measured', () => {
  it.each([
    ['{ node { id } }', undefined],
    ['{ node { node { id } } }', [{ limit: 'maxDepth', value: 3 }]],
    ['{ node { a: id b: id } }', [{ limit: 'maxAliases', value: 2 }]],
    ['{ node(in: { in: {} }) { id } }', [{ limit: 'maxInputDepth', value: 2 }]],
    [
      '{ a: node { id } b: node { id } }',
      [
        { limit: 'maxAliases', value: 2 },
        { limit: 'maxRootFields', value: 2 },
      ],
    ],
    ['{ node { ... @defer { id } ... @defer(label: "b") { __typename } } }', [{ limit: 'maxDeferred', value: 2 }]],
  ])('is read with the values of its limits (%s)', (query, exceeded) => {
    expect(read(query)).toEqual(exceeded);
  });

  it('is read with the number of its selections, those of fragments included', () => {
    const query = `{ node { ${repeat(4, (i) => `a${String(i)}: node { ...F }`)} } } fragment F on Node { id node { id } }`;
    expect(read(query, { maxAliases: 9, maxDepth: 9 })).toEqual([{ limit: 'maxSelections', value: 17 }]);
  });

  it('is refused above a ceiling', () => {
    const limits = { maxAliases: 99, maxSelections: 99 };
    expect(read(`{ node ${nest(48)} }`, limits)).toEqual([{ limit: 'maxDepth', value: 49 }]);
    const query = `{ node { ...F } } fragment F on Node ${nest(CEILINGS.maxDepth)}`;
    expect(() => read(query, limits)).toThrow('The document is not valid');
    expect(read(query, { ...limits, maxDepth: 60 })).toBeUndefined();
  });

  it('is refused where limits are enforced', () => {
    expect(() => read('{ node { node { id } } }', { mode: 'enforce' })).toThrow('The document is not valid');
  });
});
