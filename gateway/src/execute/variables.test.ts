import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Kind, type OperationDefinitionNode, buildSchema, getVariableValues, parse } from 'graphql';
import { describeVariables } from '../plan/selections/input-types.ts';
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

const describeOf = (operation: OperationDefinitionNode) => describeVariables(schema, operation, { fragments: [], aliases: new Map() });
const read = (source: string, given: Record<string, unknown>) =>
  readVariables(describeOf(parse(source).definitions[0] as OperationDefinitionNode), given);

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
          const ours = () => readVariables(describeOf(operation), given);
          if (theirs.errors) expect(ours).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
          else expect(ours()['v']).toEqual(value === undefined ? theirs.coerced['v'] : value);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('that are wrong are all named', () => {
    const operation = parse('query($p: Point!, $n: Int!) { a }').definitions[0] as OperationDefinitionNode;
    expect(() => readVariables(describeOf(operation), { p: { y: 'x', inner: { x: 1, q: 1 } } })).toThrow(
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

  // GraphQL §6.1.2; the words are those of graphql-js, without the values.
  it.each([
    ['query($n: Int!) { a }', {}, 'Variable "$n" of required type "Int!" was not provided.'],
    ['query($n: Int!) { a }', { n: null }, 'Variable "$n" of non-null type "Int!" must not be null.'],
    ['query($n: Int) { a }', { n: 'x' }, 'Variable "$n" got invalid value …; Int cannot represent non-integer value: …'],
    [
      'query($n: [[Int!]]) { a }',
      { n: [[1, null]] },
      'Variable "$n" got invalid value null at "n[0][1]"; Expected non-nullable type "Int!" not to be null.',
    ],
    [
      'query($p: Point) { a }',
      { p: { x: 1, q: 1 } },
      'Variable "$p" got invalid value … at "p.q"; Field "q" is not defined by type "Point".',
    ],
    ['query($c: Color) { a }', { c: 'BLUE' }, 'Variable "$c" got invalid value …; Value … does not exist in "Color" enum.'],
  ])('of %s that are %j are refused with a location and a message that says what is wrong', (source, given, message) => {
    expect(() => read(source, given)).toThrow(expect.objectContaining({ message, locations: [{ line: 1, column: 7 }] }));
  });

  it.each([['a secret'], [4111111111111111], [{ x: 'a secret' }], [['a secret']]])('that are invalid are not shown: %j', (value) => {
    for (const type of ['Int', 'Color', 'Point', '[Int!]'])
      expect(() => read(`query($n: ${type}) { a }`, { n: value })).toThrow(expect.not.objectContaining({ message: /secret|4111/ }));
  });

  // GraphQL §3.5.5: JSON.parse has changed such a number, and another ID names another object.
  it('of the type ID are refused when they are numbers beyond 2^53', () => {
    expect(() => read('query($n: [ID!]) { a }', { n: [1, 9007199254740994] })).toThrow(
      expect.objectContaining({
        message: 'Variable "$n" got invalid value … at "n[1]"; ID cannot represent a number beyond 2^53 exactly: …. Send a string.',
        details: [{ field: 'variables.n[1]', message: 'must be a string: a number beyond 2^53 is not exact' }],
      }),
    );
    expect(read('query($n: ID) { a }', { n: Number.MAX_SAFE_INTEGER })).toEqual({ n: Number.MAX_SAFE_INTEGER });
  });

  it('keep the name __proto__', () => {
    const given = JSON.parse('{"__proto__": true}') as Record<string, unknown>;
    expect(Object.entries(read('query($__proto__: Boolean!) { a @include(if: $__proto__) }', given))).toEqual([['__proto__', true]]);
  });

  // GraphQL §6.4.1: a null value of a variable is an error where the argument's type is non-null.
  it('are refused when a condition would be null', () => {
    const source = 'query($b: Boolean = true) { a @include(if: $b) }';
    expect(read(source, {})).toEqual({ b: true });
    expect(() => read(source, { b: null })).toThrow('Argument "if" of non-null type "Boolean!" must not be null: variable "$b" is null.');
    expect(read('query($b: Boolean = true) { a }', { b: null })).toEqual({ b: null });
  });

  // GraphQL §6.1.2: only the variables of the operation that is executed count.
  it('are conditions only where the operation itself uses them as such', () => {
    const document = parse(
      'query A($a: Int = 1) { a ...G } query B($a: Boolean = true) { ...F } fragment F on Query { a @include(if: $a) } fragment G on Query { a ...H } fragment H on Query { a @skip(if: $b) }',
    );
    const [first, second] = document.definitions as [OperationDefinitionNode, OperationDefinitionNode];
    const fragments = document.definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
    const conditionsOf = (operation: OperationDefinitionNode) =>
      describeVariables(schema, operation, { fragments, aliases: new Map() }).map(({ isCondition }) => isCondition);
    expect([conditionsOf(first), conditionsOf(second)]).toEqual([[false], [true]]);
    const nested = parse('query C($b: Boolean) { ...G }').definitions[0] as OperationDefinitionNode;
    expect(conditionsOf(nested)).toEqual([true]);
  });
});
