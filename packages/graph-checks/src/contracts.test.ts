/** Contracts by the rules that Apollo documents. */
import { describe, expect, test } from '@jest/globals';
import { buildSchema } from 'graphql';
import type { ContractFilter } from './contract-filter.ts';
import { listFilterFaults, makeContract } from './contracts.ts';
import { SUBGRAPHS, contractOf, sorted, toSubgraphs } from './test-contracts.ts';

const apiOf = (sdl: string, filter: Partial<ContractFilter>) => {
  const contract = contractOf(toSubgraphs(sdl), filter);
  return contract.ok ? sorted(contract.apiSdl) : contract.errors.map(({ code }) => code);
};

describe('makeContract', () => {
  test('leaves out excluded fields, arguments, input fields and enum values, and what can no longer be reached', () => {
    const contract = contractOf(SUBGRAPHS, { exclude: ['internal'] });
    const schema = contract.ok ? buildSchema(contract.apiSdl) : undefined;
    expect(Object.keys(schema?.getQueryType()?.getFields() ?? {})).toEqual(['user', 'find']);
    expect(contract.ok && contract.apiSdl).not.toMatch(/note|TOP|token|secret/u);
    // Audit is still reached by the union.
    expect(schema?.getType('Audit')).toBeDefined();
    expect(contract.ok && contract.supergraphSdl).toMatch(/note: String @join__field\(graph: S0\).*@inaccessible/u);
  });

  test('keeps only fields that are included, or whose type is', () => {
    const contract = contractOf(SUBGRAPHS, { include: ['public'], exclude: ['internal'] });
    expect(contract.ok && sorted(contract.apiSdl)).toBe(
      sorted('type Query { user: User } type User { id: ID! name: String orders: [Order] } type Order { id: ID! total: Int }'),
    );
    // The contract of a contract is a valid supergraph again.
    expect(contract.ok && makeContract(contract.supergraphSdl, { include: [], exclude: [] }).ok).toBe(true);
  });

  test('knows the tags by the name under which subgraphs import them', () => {
    const head = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: [{ name: "@tag", as: "@label" }])';
    const sdl = `${head} type Query { a: Int b: Int @label(name: "x") }`;
    expect(contractOf([{ name: 's', url: 'http://s.example', sdl }], { exclude: ['x'] })).toMatchObject({
      apiSdl: 'type Query {\n  a: Int\n}\n',
    });
  });

  test('marks with the name under which subgraphs import @inaccessible, and counts what they have marked as left out', () => {
    const head = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@tag", { name: "@inaccessible", as: "@hidden" }])`;
    const sdl = `${head} type Query { a: Int t: T @tag(name: "x") } type T { own: Int @hidden rest: Int @tag(name: "x") }`;
    const contract = contractOf([{ name: 's', url: 'http://s.example', sdl }], { exclude: ['x'], removeUnreachableTypes: false });
    expect(contract).toMatchObject({ apiSdl: 'type Query {\n  a: Int\n}\n' });
  });
});

/** The pages "Create contracts" and "Contract reference" of GraphOS, by their sentences. Apollo's filter itself is not public. */
describe('makeContract, as Apollo documents contracts', () => {
  test('excludes what is tagged with both an included and an excluded tag', () => {
    expect(
      apiOf('type Query { a: Int @tag(name: "in") b: Int @tag(name: "in") @tag(name: "out") }', { include: ['in'], exclude: ['out'] }),
    ).toBe(sorted('type Query { a: Int }'));
  });

  test('considers the tag of an object or interface as applied to all of its fields', () => {
    const sdl =
      'type Query { t: T @tag(name: "x") i: I @tag(name: "x") } type T implements I @tag(name: "x") { a: Int } interface I @tag(name: "x") { a: Int }';
    expect(apiOf(sdl, { include: ['x'] })).toBe(sorted('type Query { t: T i: I } type T implements I { a: Int } interface I { a: Int }'));
  });

  test('includes a type without an included tag if one of its fields is included', () => {
    const sdl = 'type Query { t: T @tag(name: "x") } type T { a: Int @tag(name: "x") b: Int }';
    expect(apiOf(sdl, { include: ['x'] })).toBe(sorted('type Query { t: T } type T { a: Int }'));
  });

  test('excludes a type of which every field is excluded, and is invalid when a field that remains returns it', () => {
    const sdl = (tag: string) => `type Query { ok: Int t: T ${tag} } type T { a: Int @tag(name: "x") }`;
    expect(apiOf(sdl('@tag(name: "x")'), { exclude: ['x'], removeUnreachableTypes: false })).toBe(sorted('type Query { ok: Int }'));
    expect(apiOf(sdl(''), { exclude: ['x'] })).toEqual(['REFERENCED_INACCESSIBLE']);
  });

  test('excludes a union of which every member is excluded, and is invalid when a field that remains returns it', () => {
    const sdl = (tag: string) => `type Query { ok: Int m: Media ${tag} } union Media = Book | Movie
      type Book @tag(name: "x") { title: String } type Movie { title: String @tag(name: "x") }`;
    expect(apiOf(sdl('@tag(name: "x")'), { exclude: ['x'], removeUnreachableTypes: false })).toBe(sorted('type Query { ok: Int }'));
    expect(apiOf(sdl(''), { exclude: ['x'] })).toEqual(['REFERENCED_INACCESSIBLE']);
  });

  test('keeps a union and an interface of which another object remains', () => {
    const sdl = `type Query { u: U i: I } union U = A | B interface I { id: ID } type A implements I @tag(name: "x") { id: ID } type B implements I { id: ID }`;
    expect(apiOf(sdl, { exclude: ['x'] })).toBe(
      sorted('type Query { u: U i: I } union U = B interface I { id: ID } type B implements I { id: ID }'),
    );
  });

  test('excludes unions without an included tag; arguments, inputs, enums and scalars need none', () => {
    const sdl = `type Query @tag(name: "x") { a(by: By, e: E): S } input By { s: S } enum E { A } scalar S union U = Query`;
    expect(apiOf(sdl, { include: ['x'], removeUnreachableTypes: false })).toBe(
      sorted('type Query { a(by: By, e: E): S } input By { s: S } enum E { A } scalar S'),
    );
  });

  test('removes types that cannot be reached, unless they have an included tag; then what they need remains too', () => {
    const sdl = `type Query { a: Int @tag(name: "x") } type Kept @tag(name: "x") { e: Needed } enum Needed { A } enum Other { A } type Partly { b: Int @tag(name: "x") c: Int }`;
    expect(apiOf(sdl, { include: ['x'] })).toBe(sorted('type Query { a: Int } type Kept { e: Needed } enum Needed { A }'));
    expect(apiOf(sdl, { include: ['x'], removeUnreachableTypes: false })).toBe(
      sorted('type Query { a: Int } type Kept { e: Needed } enum Needed { A } enum Other { A } type Partly { b: Int }'),
    );
  });

  test('leaves a mutation root out when nothing of it remains, and is invalid without a query', () => {
    expect(apiOf('type Query { a: Int } type Mutation { b: Int @tag(name: "x") }', { exclude: ['x'] })).toBe(
      sorted('type Query { a: Int }'),
    );
    expect(apiOf('type Query { a: Int @tag(name: "x") }', { exclude: ['x'] })).toEqual(['ONLY_INACCESSIBLE_CHILDREN']);
    expect(apiOf('type Query { a: Int }', { include: ['x'] })).toEqual(['ONLY_INACCESSIBLE_CHILDREN']);
  });

  test('is invalid when a required argument or input field is left out, or a default value', () => {
    expect(apiOf('type Query { a(b: Int! @tag(name: "x")): Int }', { exclude: ['x'] })).toEqual(['REQUIRED_INACCESSIBLE']);
    expect(apiOf('type Query { a(b: I): Int } input I { c: Int d: Int! @tag(name: "x") }', { exclude: ['x'] })).toEqual([
      'REQUIRED_INACCESSIBLE',
    ]);
    expect(apiOf('type Query { a(b: E = B): Int } enum E { A B @tag(name: "x") }', { exclude: ['x'] })).toEqual([
      'DEFAULT_VALUE_USES_INACCESSIBLE',
    ]);
  });

  test('is invalid when an object loses a field that an interface demands', () => {
    const sdl = 'type Query { i: I } interface I { a: Int } type T implements I { a: Int @tag(name: "x") b: Int }';
    expect(apiOf(sdl, { exclude: ['x'] })).toEqual(['IMPLEMENTED_BY_INACCESSIBLE']);
  });

  test('refuses to include and exclude the same tag, and names that no tag can have', () => {
    expect(apiOf('type Query { a: Int }', { include: ['x', 'y'], exclude: ['y'] })).toEqual(['CONTRACT_FILTER_INVALID']);
    expect(listFilterFaults({ include: ['a b', 'ok'], exclude: ['x'.repeat(129)] }).map(({ field }) => field)).toEqual([
      'include',
      'exclude',
    ]);
    expect(listFilterFaults({ include: ['a/b/c-1_2'], exclude: ['x'] })).toEqual([]);
  });
});
