import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type OperationDefinitionNode, buildSchema, getVariableValues, parse } from 'graphql';
import { describeVariables } from '../plan/input-types.ts';
import { readVariables } from './variables.ts';

const schema = buildSchema(`
  type Query { a(id: ID, f: Float, s: String, b: Boolean, p: Point, o: One): Int }
  enum Color { RED GREEN }
  input Point { x: Int! y: Float = 1 tags: [String!] inner: Point color: Color }
  input One @oneOf { a: Int b: String }
`);
const TYPES = ['Int', 'Int!', 'Float', 'String', 'Boolean', 'ID', '[Int]', '[[Int!]!]', 'Color', 'Point', 'Point!', '[Point!]', 'One'];

const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer({ min: -3e9, max: 3e9 }),
    fc.constantFrom(null, true, 'RED', 'text', 1.5, 0, -0),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('x', 'y', 'tags', 'inner', 'color', 'a', 'b', 'z'), tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe('variables', () => {
  it('are taken or refused as graphql-js does, for every type and value', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...TYPES),
        fc.constantFrom('', ' = null', ' = 1'),
        fc.option(values, { nil: undefined, freq: 8 }),
        (type, fallback, value) => {
          const source = `query($v: ${type}${type.startsWith('Int') && !type.includes('!') ? fallback : ''}) { a }`;
          const operation = parse(source).definitions[0] as OperationDefinitionNode;
          const given: Record<string, unknown> = value === undefined ? {} : { v: value };
          const theirs = getVariableValues(schema, operation.variableDefinitions ?? [], given);
          const ours = () => readVariables(describeVariables(schema, operation), given);
          if (theirs.errors) expect(ours).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
          else expect(ours()['v']).toEqual(value === undefined ? theirs.coerced['v'] : value);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('that are wrong are all named', () => {
    const operation = parse('query($p: Point!, $n: Int!) { a }').definitions[0] as OperationDefinitionNode;
    expect(() => readVariables(describeVariables(schema, operation), { p: { y: 'x', inner: { x: 1, q: 1 } } })).toThrow(
      expect.objectContaining({
        details: [
          { field: 'variables.p.x', message: 'is required: Int!' },
          { field: 'variables.p.y', message: 'must be of type Float' },
          { field: 'variables.p.inner.q', message: 'is not a field of Point' },
          { field: 'variables.n', message: 'is required: Int!' },
        ],
      }),
    );
  });
});
