import { describe, expect, it } from '@jest/globals';
import { buildSchema, getIntrospectionQuery, parse, specifiedRules, validate } from 'graphql';
import { MAX_JSON_DEPTH } from '../request/json.ts';
import { limitOperations } from './limit-operations.ts';
import { DEFAULT_LIMITS, limitVariables, toCostFault, toIntrospectionLimits } from './limits.ts';

const { maxDepth: MAX_DEPTH, maxAliases: MAX_ALIASES, maxRootFields: MAX_ROOT_FIELDS, maxInputDepth: MAX_INPUT_DEPTH } = DEFAULT_LIMITS;

const schema = buildSchema('scalar Any type Query { node(any: Any): Node } type Node { id: ID, node: Node }');
const check = (source: string, limits = DEFAULT_LIMITS) =>
  validate(schema, parse(source), [...specifiedRules, limitOperations(limits)]).map(({ message }) => message);
const nest = (levels: number): string => (levels === 1 ? '{ __typename }' : `{ node ${nest(levels - 1)} }`);

describe('limitOperations, limitVariables and toCostFault (contract §6)', () => {
  it(`accepts depth ${String(MAX_DEPTH)} and reports limit and value of a deeper operation`, () => {
    expect(check(nest(MAX_DEPTH))).toEqual([]);
    expect(check(nest(MAX_DEPTH + 1))).toEqual(['Query depth 13 exceeds the limit of 12.']);
  });

  it('counts the fields of fragments in the depth, and ends for cycles', () => {
    expect(
      check(
        '{ node { ...a } } fragment a on Node { node { node { node { node { node { ...b } } } } } } fragment b on Node { node { node { node { node { node { node { id } } } } } } }',
      ),
    ).toEqual(['Query depth 13 exceeds the limit of 12.']);
    expect(check('{ node { ...a } } fragment a on Node { node { ...a } }')).toEqual([
      expect.stringContaining('Cannot spread fragment "a" within itself'),
    ]);
  });

  it('counts nested inline fragments without fields as levels of selection sets', () => {
    const inline = (levels: number) => `{ node { ${'... { '.repeat(levels)}id${' }'.repeat(levels)} } }`;
    expect(check(inline(48))).toEqual([]);
    expect(check(inline(49))).toEqual(['Selection set depth 51 exceeds the limit of 50.']);
  });

  it('counts aliases, for each spread of a fragment at another place', () => {
    const aliases = (count: number) => Array.from({ length: count }, (_, i) => `a${String(i)}: id`).join(' ');
    expect(check(`{ node { ${aliases(MAX_ALIASES)} } }`)).toEqual([]);
    expect(check(`{ node { ${aliases(MAX_ALIASES + 1)} } }`)).toEqual(['Alias count 31 exceeds the limit of 30.']);
    expect(check(`{ x: node { ...f } y: node { ...f } } fragment f on Node { ${aliases(15)} }`)).toHaveLength(1);
  });

  it('counts root fields, including those of fragments', () => {
    const fields = 'node { id } '.repeat(MAX_ROOT_FIELDS);
    expect(check(`{ ${fields} }`)).toEqual([]);
    expect(check(`{ ...f node { id } } fragment f on Query { ${fields} }`)).toEqual(['Root field count 51 exceeds the limit of 50.']);
  });

  // Contract §6: aliases 30, wherever they are.
  it('accepts as many aliases of root fields as aliases of other fields', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `a${String(i)}: node { id }`).join(' ');
    expect(check(`{ ${fields(MAX_ALIASES)} node { id } }`)).toEqual([]);
    expect(check(`{ ${fields(MAX_ALIASES + 1)} }`)).toEqual(['Alias count 31 exceeds the limit of 30.']);
  });

  it('reports limit and value of an estimated cost that is too high', () => {
    expect(toCostFault(6, { maxCost: 5 }, { line: 2, column: 3 })).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: 'Estimated cost 6 exceeds the limit of 5.',
      locations: [{ line: 2, column: 3 }],
    });
  });

  it('bounds the cost of introspection when costs are measured only: by 1,000,000, or by a higher limit', () => {
    expect(toIntrospectionLimits({ maxCost: 5, costMode: 'enforce' })).toEqual({ maxCost: 5 });
    expect(toIntrospectionLimits({ maxCost: 5, costMode: 'measure' })).toEqual({ maxCost: 1_000_000 });
    expect(toIntrospectionLimits({ maxCost: 5_000_000, costMode: 'measure' })).toEqual({ maxCost: 5_000_000 });
  });

  it.each([
    ['an argument', (value: string) => `{ node(any: ${value}) { id } }`],
    ['a default', (value: string) => `query ($any: Any = ${value}) { node(any: $any) { id } }`],
    ['a fragment', (value: string) => `{ ...f } fragment f on Query { node(any: ${value}) { id } }`],
  ])('limits nested input objects, and nested values of any kind, in the value of %s', (_, write) => {
    const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const objects = (levels: number) => `${'{ a: ['.repeat(levels)}1${'] }'.repeat(levels)}`;
    expect(check(write(objects(MAX_INPUT_DEPTH)))).toEqual([]);
    expect(check(write(`[${objects(3)} ${objects(MAX_INPUT_DEPTH + 1)} 1]`))).toEqual(['Input object depth 51 exceeds the limit of 50.']);
    expect(check(write(lists(MAX_JSON_DEPTH)))).toEqual([]);
    expect(check(write(lists(MAX_JSON_DEPTH + 1)))).toEqual(['Value nesting depth 257 exceeds the limit of 256.']);
  });

  it('reports every variable whose input objects are nested too deep', () => {
    const nested = (levels: number): unknown => JSON.parse('[{"a":'.repeat(levels) + '1' + '}]'.repeat(levels));
    const locations = new Map([['c', { line: 1, column: 9 }]]);
    const limit = (variables: Record<string, unknown>) => {
      limitVariables(variables, DEFAULT_LIMITS, (name) => locations.get(name));
    };
    limit({});
    limit({ a: nested(MAX_INPUT_DEPTH), b: null, c: { d: 'x'.repeat(99) } });
    expect(() => {
      limit({ a: [nested(MAX_INPUT_DEPTH + 1)], b: nested(1), c: { d: nested(60) } });
    }).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_ERROR',
        message: '`variables.a`: input object depth 51 exceeds the limit of 50.',
        details: [
          { field: 'variables.a', message: 'input object depth 51 exceeds the limit of 50' },
          { field: 'variables.c', message: 'input object depth 61 exceeds the limit of 50' },
        ],
        locations: [{ line: 1, column: 9 }],
      }),
    );
  });

  it('limits the length of an operation name', () => {
    const named = (length: number) => `query ${'x'.repeat(length)} { node { id } }`;
    expect(check(named(200))).toEqual([]);
    expect(check(named(201))).toEqual(['Operation name length 201 exceeds the limit of 200.']);
  });

  it('reports __schema and __type where introspection is disabled, and no other field', () => {
    const limits = { ...DEFAULT_LIMITS, hasIntrospection: false };
    expect(check('{ __schema { __typename } a: __type(name: "Query") { name } }', limits)).toEqual([
      'GraphQL introspection has been disabled, but the requested query contained the field "__schema".',
      'GraphQL introspection has been disabled, but the requested query contained the field "__type".',
    ]);
    expect(check('{ __typename node { __typename } }', limits)).toEqual([]);
  });

  it('reports mutations where they are disabled, and no other operation', () => {
    const limits = { ...DEFAULT_LIMITS, hasMutations: false };
    expect(check('mutation A { a: __typename } query B { node { id } }', limits)).toEqual(['Mutations have been disabled.']);
    expect(check('subscription A { a: __typename } query B { node { id } }', limits)).toEqual([]);
  });

  it('reports subscriptions where they are disabled, and no other operation', () => {
    const limits = { ...DEFAULT_LIMITS, hasSubscriptions: false };
    expect(check('subscription A { a: __typename } query B { node { id } }', limits)).toEqual(['Subscriptions have been disabled.']);
    expect(check('mutation A { a: __typename } query B { node { id } }', limits)).toEqual([]);
  });

  it('counts a fragment that is spread twice at one place once, in linear time', () => {
    const bomb = Array.from({ length: 30 }, (_, i) => `fragment f${String(i)} on Query { ...f${String(i + 1)} ...f${String(i + 1)} }`);
    expect(check(`{ ...f0 } ${bomb.join(' ')} fragment f30 on Query { a: node { b: id } }`)).toEqual([]);
  });

  it('counts meta fields as other fields', () => {
    const many = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${String(i)}: ${field}`).join(' ');
    expect(check(`{ node { ${many(MAX_ALIASES + 1, '__typename')} } }`)).toEqual(['Alias count 31 exceeds the limit of 30.']);
    expect(check(`{ ${many(400, '__schema { types { name } }')} }`)).toEqual([
      'Alias count 400 exceeds the limit of 30.',
      'Root field count 400 exceeds the limit of 50.',
    ]);
    const deep = `{ __schema { types { ${'ofType { '.repeat(20)}name${' }'.repeat(20)} } } }`;
    expect(check(deep)).toEqual(['Introspection depth 23 exceeds the limit of 20.']);
  });

  it('accepts the introspection queries of tools', () => {
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
