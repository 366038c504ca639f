import { describe, expect, it } from '@jest/globals';
import { buildSchema, getIntrospectionQuery, parse, specifiedRules, validate } from 'graphql';
import { MAX_JSON_DEPTH } from '../request/json.ts';
import { DEFAULT_LIMITS, limitCost, limitOperations, limitVariables } from './limits.ts';

const { maxDepth: MAX_DEPTH, maxAliases: MAX_ALIASES, maxRootFields: MAX_ROOT_FIELDS, maxInputDepth: MAX_INPUT_DEPTH } = DEFAULT_LIMITS;

const schema = buildSchema('scalar Any type Query { node(any: Any): Node } type Node { id: ID, node: Node }');
const check = (source: string, limits = DEFAULT_LIMITS) =>
  validate(schema, parse(source), [...specifiedRules, limitOperations(limits)]).map(({ message }) => message);
const nest = (levels: number): string => (levels === 1 ? '{ __typename }' : `{ node ${nest(levels - 1)} }`);

describe('the limits of contract §6', () => {
  it(`let a depth of ${String(MAX_DEPTH)} pass and name limit and value of one more`, () => {
    expect(check(nest(MAX_DEPTH))).toEqual([]);
    expect(check(nest(MAX_DEPTH + 1))).toEqual(['The operation has depth 13; the limit is 12']);
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

  it('count the braces of fragments within fragments, which have no depth of fields', () => {
    const inline = (levels: number) => `{ node { ${'... { '.repeat(levels)}id${' }'.repeat(levels)} } }`;
    expect(check(inline(48))).toEqual([]);
    expect(check(inline(49))).toEqual(['The operation has selections nested to level 51; the limit is 50']);
  });

  it('count aliases, also those that a fragment multiplies', () => {
    const aliases = (count: number) => Array.from({ length: count }, (_, i) => `a${String(i)}: id`).join(' ');
    expect(check(`{ node { ${aliases(MAX_ALIASES)} } }`)).toEqual([]);
    expect(check(`{ node { ${aliases(MAX_ALIASES + 1)} } }`)).toEqual(['The operation has aliases 31; the limit is 30']);
    expect(check(`{ x: node { ...f } y: node { ...f } } fragment f on Node { ${aliases(15)} }`)).toHaveLength(1);
  });

  it('count root fields, also those of fragments', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `a${String(i)}: node { id }`).join(' ');
    expect(check(`{ ${fields(MAX_ROOT_FIELDS)} }`)).toEqual([]);
    expect(check(`{ ...f node { id } } fragment f on Query { ${fields(MAX_ROOT_FIELDS)} }`)).toEqual([
      'The operation has root fields 21; the limit is 20',
    ]);
  });

  it('refuse what costs too much, with limit and value', () => {
    limitCost(5, { maxCost: 5 }, undefined);
    expect(() => {
      limitCost(6, { maxCost: 5 }, { line: 2, column: 3 });
    }).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_ERROR',
        message: 'The operation has an estimated cost of 6; the limit is 5',
        locations: [{ line: 2, column: 3 }],
      }),
    );
  });

  it('refuse the one alias that the gateway uses itself', () => {
    expect(check('{ node { trestle_typename: id } }')).toEqual(['The alias "trestle_typename" is reserved; use another one']);
    expect(check('{ node { __typename: id } }')).toEqual([]);
  });

  it.each([
    ['an argument', (value: string) => `{ node(any: ${value}) { id } }`],
    ['a default', (value: string) => `query ($any: Any = ${value}) { node(any: $any) { id } }`],
    ['a fragment', (value: string) => `{ ...f } fragment f on Query { node(any: ${value}) { id } }`],
  ])('count objects in each other, and all levels up to what JSON may have, in the value of %s', (_, write) => {
    const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const objects = (levels: number) => `${'{ a: ['.repeat(levels)}1${'] }'.repeat(levels)}`;
    expect(check(write(objects(MAX_INPUT_DEPTH)))).toEqual([]);
    expect(check(write(`[${objects(3)} ${objects(MAX_INPUT_DEPTH + 1)} 1]`))).toEqual([
      'The operation has input objects nested to level 51; the limit is 50',
    ]);
    expect(check(write(lists(MAX_JSON_DEPTH)))).toEqual([]);
    expect(check(write(lists(MAX_JSON_DEPTH + 1)))).toEqual(['The operation has a value nested to level 257; the limit is 256']);
  });

  it('count objects in each other in variables, and name each that has too many', () => {
    const nested = (levels: number): unknown => JSON.parse('[{"a":'.repeat(levels) + '1' + '}]'.repeat(levels));
    const places = new Map([['c', { line: 1, column: 9 }]]);
    const limit = (variables: Record<string, unknown>) => {
      limitVariables(variables, DEFAULT_LIMITS, (name) => places.get(name));
    };
    limit({});
    limit({ a: nested(MAX_INPUT_DEPTH), b: null, c: { d: 'x'.repeat(99) } });
    expect(() => {
      limit({ a: [nested(MAX_INPUT_DEPTH + 1)], b: nested(1), c: { d: nested(60) } });
    }).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_ERROR',
        message: '`variables.a` has input objects nested to level 51; the limit is 50',
        details: [
          { field: 'variables.a', message: 'has input objects nested to level 51; the limit is 50' },
          { field: 'variables.c', message: 'has input objects nested to level 61; the limit is 50' },
        ],
        locations: [{ line: 1, column: 9 }],
      }),
    );
  });

  it('limit the name of an operation', () => {
    const named = (length: number) => `query ${'x'.repeat(length)} { node { id } }`;
    expect(check(named(200))).toEqual([]);
    expect(check(named(201))).toEqual(['The operation has a name of length 201; the limit is 200']);
  });

  it('refuse __schema and __type where introspection is switched off, and nothing else', () => {
    const limits = { ...DEFAULT_LIMITS, hasIntrospection: false };
    expect(check('{ __schema { __typename } a: __type(name: "Query") { name } }', limits)).toEqual([
      'Introspection is switched off here: `__schema` is not available',
      'Introspection is switched off here: `__type` is not available',
    ]);
    expect(check('{ __typename node { __typename } }', limits)).toEqual([]);
  });

  it('count what fragments spread twice once, and in no time, since its fields are the same', () => {
    const bomb = Array.from({ length: 30 }, (_, i) => `fragment f${String(i)} on Query { ...f${String(i + 1)} ...f${String(i + 1)} }`);
    expect(check(`{ ...f0 } ${bomb.join(' ')} fragment f30 on Query { a: node { b: id } }`)).toEqual([]);
  });

  it('count meta fields as other fields', () => {
    const many = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${String(i)}: ${field}`).join(' ');
    expect(check(`{ node { ${many(MAX_ALIASES + 1, '__typename')} } }`)).toEqual(['The operation has aliases 31; the limit is 30']);
    expect(check(`{ ${many(400, '__schema { types { name } }')} }`)).toEqual([
      'The operation has aliases 400; the limit is 30',
      'The operation has root fields 400; the limit is 20',
    ]);
    const deep = `{ __schema { types { ${'ofType { '.repeat(20)}name${' }'.repeat(20)} } } }`;
    expect(check(deep)).toEqual(['The operation has introspection of depth 23; the limit is 20']);
  });

  it('let the introspection queries of tools pass', () => {
    const options = {
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
    };
    for (const query of [getIntrospectionQuery(), getIntrospectionQuery({ ...options, oneOf: true })]) expect(check(query)).toEqual([]);
  });
});
