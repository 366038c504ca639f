/** Contracts, compared with those of `@theguild/federation-composition`, which Hive uses. */
import { describe, expect, test } from '@jest/globals';
import { composeSchemaContract } from '@theguild/federation-composition';
import fc from 'fast-check';
import { parse } from 'graphql';
import { type SubgraphSource, toApiSdl } from './compose.ts';
import type { ContractFilter } from './contract-filter.ts';
import { SUBGRAPHS, contractOf, sorted, toSubgraphs } from './test-contracts.ts';

/** `npm run test:long` sets it. */
const IS_LONG = process.env['TEST_LENGTH'] === 'long';
const RUNS = IS_LONG ? 60 : 25;

/**
 * Returns the public schema of the other library's contract, as `@apollo/federation-internals` derives it: its own is not a valid schema when a union
 * has lost a member, which it still names. For the same reason it throws when unreachable types are to be removed. Where it removes nothing else, its
 * supergraph has marks without a link, and only its own public schema is left.
 */
function guildContractOf(sources: readonly SubgraphSource[], filter: Partial<ContractFilter>): string | undefined {
  const { include = [], exclude = [], removeUnreachableTypes = true } = filter;
  const services = sources.map(({ sdl, ...service }) => ({ ...service, typeDefs: parse(sdl) }));
  const tags = { include: new Set(include), exclude: new Set(exclude) };
  const { supergraphSdl, publicSdl } = composeSchemaContract(services, tags, removeUnreachableTypes);
  if (!supergraphSdl?.includes('specs.apollo.dev/inaccessible/')) return publicSdl;
  try {
    return toApiSdl(supergraphSdl);
  } catch {
    return undefined;
  }
}

/** Returns the sorted public schemas of both; undefined for a contract that is refused. */
function compare(sources: readonly SubgraphSource[], filter: Partial<ContractFilter>) {
  const [ours, theirs] = [contractOf(sources, filter), guildContractOf(sources, filter)];
  return { ours: ours.ok ? sorted(ours.apiSdl) : undefined, theirs: theirs === undefined ? undefined : sorted(theirs) };
}

/** How many objects a graph has, beside an interface, a union, an enum and an input. */
const OBJECTS = 5;
const mark = (each: readonly string[]) => each.map((name) => ` @tag(name: "${name}")`).join('');
/** Creates graphs in which most tags are `usual`. */
function createGraphs(usual: readonly string[]) {
  const tags = fc.oneof({ weight: 7, arbitrary: fc.constant([...usual]) }, { weight: 1, arbitrary: fc.subarray(['x', 'y']) });
  const field = fc.record({
    to: fc.constantFrom('Int', ...Array.from({ length: OBJECTS }, (_, index) => `T${String(index)}`), 'I', 'U', 'E'),
    ...{ tags, argumentTags: tags, takes: fc.constantFrom(undefined, 'Int', 'Int = 3', 'Int!', 'E', 'P', 'P!') },
  });
  return fc.record({
    objects: fc.array(
      fc.record({ tags, hasInterface: fc.boolean(), idTags: tags, fields: fc.array(field, { minLength: 1, maxLength: 3 }) }),
      {
        ...{ minLength: OBJECTS, maxLength: OBJECTS },
      },
    ),
    roots: fc.array(field, { minLength: 1, maxLength: 3 }),
    members: fc.uniqueArray(fc.nat(OBJECTS - 1), { minLength: 1, maxLength: 3 }),
    ...{
      interfaceTags: fc.tuple(tags, tags),
      unionTags: tags,
      enumTags: fc.tuple(tags, tags, tags),
      inputTags: fc.tuple(tags, tags, tags),
    },
    isRequired: fc.boolean(),
  });
}
type Graph = ReturnType<typeof createGraphs> extends fc.Arbitrary<infer Value> ? Value : never;
type Field = Graph['roots'][number];
/** Writes a graph. `own` decides the tags of what is no field, object, interface or union. */
function write({ objects, roots, members, isRequired, ...graph }: Graph, own: (given: readonly string[]) => readonly string[]): string {
  const toField = ({ to, takes, tags: given, argumentTags }: Field, name: string) =>
    `${name}${takes === undefined ? '' : `(v: ${takes}${mark(own(argumentTags))})`}: ${to}${mark(given)}`;
  const toFields = (fields: readonly Field[], prefix: string) =>
    fields.map((each, at) => toField(each, `${prefix}${String(at)}`)).join(' ');
  const types = objects.map(
    ({ tags: given, hasInterface, idTags, fields }, at) =>
      `type T${String(at)}${hasInterface ? ' implements I' : ''}${mark(given)} { id: Int${mark(idTags)} ${toFields(fields, 'f')} }`,
  );
  const { interfaceTags, unionTags, enumTags, inputTags } = graph;
  return `type Query { ok: Int @tag(name: "x") @tag(name: "ok") ${toFields(roots, 'q')} } ${types.join('\n')}
    interface I${mark(interfaceTags[0])} { id: Int${mark(interfaceTags[1])} } union U${mark(unionTags)} = ${members.map((at) => `T${String(at)}`).join(' | ')}
    enum E${mark(own(enumTags[0]))} { A${mark(own(enumTags[1]))} B${mark(own(enumTags[2]))} }
    input P${mark(own(inputTags[0]))} { a: Int${mark(own(inputTags[1]))} b: Int${isRequired ? '!' : ''}${mark(own(inputTags[2]))} }`;
}

describe('makeContract, compared with composeSchemaContract of @theguild/federation-composition', () => {
  test.each<Partial<ContractFilter>>([
    { exclude: ['internal'] },
    { exclude: ['public'] },
    { include: ['public'] },
    { include: ['public'], exclude: ['internal'] },
  ])('has the same public schema: %j', (filter) => {
    const { ours, theirs } = compare(SUBGRAPHS, filter);
    expect(ours).toBe(theirs);
  });

  test.each<[string, string, Partial<ContractFilter>, string, string | undefined]>([
    // Apollo: include lists select fields of objects and interfaces, and unions. The other library demands a tag of everything, so that the enum loses all values.
    [
      'an enum without tags',
      'type Query @tag(name: "x") { a: E } enum E { A }',
      { include: ['x'] },
      'type Query { a: E } enum E { A }',
      undefined,
    ],
    // The same for arguments, which it removes silently.
    [
      'an argument without tags',
      'type Query { a(b: Int): Int @tag(name: "x") }',
      { include: ['x'] },
      'type Query { a(b: Int): Int }',
      'type Query { a: Int }',
    ],
    // Apollo keeps unreachable types with an included tag. The other library removes all that cannot be reached.
    [
      'an unreachable type with a tag',
      'type Query { a: Int @tag(name: "x") b: Int } type T @tag(name: "x") { a: Int }',
      { include: ['x'] },
      'type Query { a: Int } type T { a: Int }',
      'type Query { a: Int }',
    ],
    // Apollo excludes a union without members. The other library refuses the contract.
    [
      'a union whose members are excluded',
      'type Query { a: Int } union U = T type T @tag(name: "x") { a: Int }',
      { exclude: ['x'], removeUnreachableTypes: false },
      'type Query { a: Int }',
      undefined,
    ],
    // The default value is of an argument whose field is left out. The other library reports that it is in the public schema.
    [
      'a default value of a field that is excluded',
      'type Query { a: Int b(e: E = A): Int @tag(name: "x") } enum E @tag(name: "x") { A }',
      { exclude: ['x'] },
      'type Query { a: Int }',
      undefined,
    ],
  ])('differs in %s', (_, sdl, filter, expected, theirsExpected) => {
    const { ours, theirs } = compare(toSubgraphs(sdl), filter);
    expect({ ours, theirs }).toEqual({ ours: sorted(expected), theirs: theirsExpected && sorted(theirsExpected) });
  });

  /** Whether all members of the union are left out: the difference above. */
  const isUnionEmpty = ({ ours, theirs }: ReturnType<typeof compare>) =>
    ours !== undefined && theirs === undefined && !ours.includes('union U');

  test('has the same public schema, and refuses the same, for generated graphs and exclude lists', () => {
    let valid = 0;
    fc.assert(
      fc.property(createGraphs([]), fc.boolean(), (graph, removeUnreachableTypes) => {
        const sources = toSubgraphs(write(graph, (given) => given));
        const filter = { exclude: ['y'], removeUnreachableTypes };
        let outcome: ReturnType<typeof compare>;
        try {
          outcome = compare(sources, filter);
        } catch {
          // The other library cannot remove types where a union has lost a member.
          outcome = compare(sources, { ...filter, removeUnreachableTypes: false });
        }
        if (outcome.ours !== undefined) valid++;
        if (!isUnionEmpty(outcome)) expect(outcome.ours).toBe(outcome.theirs);
      }),
      { numRuns: RUNS },
    );
    expect(valid).toBeGreaterThan(RUNS / 6);
  });

  /** Where arguments, inputs, enums and scalars have the included tag, both libraries follow the same rules. */
  test('has the same public schema, and refuses the same, for generated graphs and include lists, when what is no output has the included tags', () => {
    let valid = 0;
    fc.assert(
      fc.property(createGraphs(['x']), fc.boolean(), (graph, hasExcluded) => {
        const sources = toSubgraphs(write(graph, (given) => [...new Set([...given, 'x'])]));
        const outcome = compare(sources, { include: ['x'], exclude: hasExcluded ? ['y'] : [], removeUnreachableTypes: false });
        if (outcome.ours !== undefined) valid++;
        if (!isUnionEmpty(outcome)) expect(outcome.ours).toBe(outcome.theirs);
      }),
      { numRuns: RUNS },
    );
    expect(valid).toBeGreaterThan(RUNS / 6);
  });
});
