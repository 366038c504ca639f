/** What reports of usage say of an operation. */
import { describe, expect, it } from '@jest/globals';
import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode, buildSchema, parse } from 'graphql';
import { describeUsage } from './describe-usage.ts';

const SCHEMA = buildSchema(`
  scalar JSON
  type Query { user(id: ID, by: By, data: JSON): User users(ids: [ID!], bys: [By!], sort: Sort = NEW): [User] }
  type User { id: ID! name: String friend: User }
  enum Sort { NEW OLD } input By { email: String sort: Sort range: Range } input Range { from: Int to: Int }`);

const describeText = (text: string, format: 'registry' | 'hive' = 'registry') => {
  const { definitions } = parse(text);
  const operation = definitions.find((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  const fragments = definitions.filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION);
  const usage = operation && describeUsage(SCHEMA, { operation, fragments }, format);
  if (!usage) throw new Error('Nothing is described');
  return usage;
};

describe('describeUsage', () => {
  it.each([
    ['strings and numbers', '{ user(id: "ada@example.com") { id } }', '{user(id:""){id}}'],
    ['numbers for ids', 'query A { user(id: 4711) { id } }', 'query A{user(id:0){id}}'],
    [
      'values in input objects, whose fields stay',
      '{ user(by: { email: "ada@example.com", sort: OLD, range: { from: 7 } }) { id } }',
      '{user(by:{email:"" sort:OLD range:{from:0}}){id}}',
    ],
    ['the content of custom scalars', '{ user(data: { ada: [1, SECRET] }) { id } }', '{user(data:{}){id}}'],
    ['an enum value in a custom scalar', '{ user(data: ADA) { id } }', '{user(data:""){id}}'],
    ['lists of values', '{ users(ids: ["a", "b"]) { id } }', '{users(ids:[]){id}}'],
    [
      'lists of input objects, each form once',
      '{ users(bys: [{ email: "a" }, { email: "b" }, { sort: NEW }]) { id } }',
      '{users(bys:[{email:""}{sort:NEW}]){id}}',
    ],
    ['defaults of variables', 'query ($by: By = { email: "x" }) { user(by: $by) { id } }', 'query($by:By={email:""}){user(by:$by){id}}'],
    ['aliases, and what is equal then', '{ ada: user(id: 1) { id } bob: user(id: 2) { id } }', '{user(id:0){id}}'],
    ['comments', '{ user { id } } # for ada@example.com', '{user{id}}'],
  ])('removes %s', (_, given, expected) => {
    expect(describeText(given).text).toBe(expected);
  });

  it('keeps the fragments that the operation spreads, in the order of their names', () => {
    const usage = describeText(
      'fragment C on User { id } fragment B on User { name ...A } fragment A on User { id } query X { user { ...B } }',
    );
    expect(usage).toMatchObject({
      name: 'X',
      text: 'query X{user{...B}}fragment A on User{id}fragment B on User{name ...A}',
    });
    expect(usage.hash).toBe(describeText('query X { user { ...B } } fragment A on User { id } fragment B on User { n: name ...A }').hash);
  });

  it('names fields, arguments, enum values and input fields, and the input types that variables give', () => {
    const { uses } = describeText('query ($r: Range) { user(by: { sort: OLD, range: $r }) { friend { name } } users { id } }');
    expect([...uses].sort()).toEqual([
      '<Range?',
      'By.range',
      'By.sort',
      'Query.user',
      'Query.user(by:)',
      'Query.users',
      'Sort.OLD',
      'User.friend',
      'User.id',
      'User.name',
    ]);
  });

  it('leaves out names that are longer than the registry takes', () => {
    expect(describeText(`query ${'A'.repeat(201)} { user { id } }`)).toMatchObject({ name: undefined, uses: ['Query.user', 'User.id'] });
  });

  it('describes an operation that is longer than the registry takes by its hash, and nothing of it for Hive', () => {
    const long = (name: string) => `{ ${Array.from({ length: 3 }, (_, i) => `...${name.repeat(70_000)}${String(i)}`).join(' ')} }`;
    const described = describeText(long('F'));
    expect(described).toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{64}$/), text: '', uses: [] });
    expect(described.hash).not.toBe(describeText(long('G')).hash);
    expect(() => describeText(long('F'), 'hive')).toThrow('Nothing is described');
  });
});
