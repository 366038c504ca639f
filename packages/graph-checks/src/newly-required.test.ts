/** Arguments and input fields that lose their default, decided by the operations that clients sent. */
import { describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { listChanges } from './changes.ts';
import { decideChanges } from './usage.ts';

const CLIENTS = [{ name: 'web', version: '1.4', count: 1000, lastSeen: '2026-01-30T10:00:00Z' }];

/** Returns the change at a coordinate, as it is decided by operations. */
async function decide(coordinate: string, schemas: readonly [string, string], texts: readonly string[]) {
  const [from, to] = [buildSchema(schemas[0]), buildSchema(schemas[1])];
  const operations = texts.map((text) => ({ hash: text, name: null, text, clients: CLIENTS }));
  const decided = decideChanges({ schema: from, next: to, changes: await listChanges(from, to), usage: { days: 30, operations } });
  return decided.find((each) => each.coordinate === coordinate);
}

describe('an argument or input field without its default', () => {
  const toSdl = (type: string) => `directive @mask(first: ${type}) on FIELD
    type Query { users(first: ${type}): [User] user(by: By): User } type User { id: ID } input By { name: String first: ${type} }`;

  it.each<[string, string[], string]>([
    ['Query.users(first:)', ['{ users { id } }', 'query($n: Int) { users(first: $n) { id } }'], '{ users(first: 2) { id } }'],
    ['By.first', ['{ user(by: { name: "" }) { id } }', 'query($b: By) { user(by: $b) { id } }'], '{ user(by: { first: 2 }) { id } }'],
    ['@mask(first:)', ['{ user { id @mask } }'], '{ user { id } }'],
  ])('%s is required from then on: operations without it fail the check', async (coordinate, affected, other) => {
    const decided = await decide(coordinate, [toSdl('Int! = 1'), toSdl('Int!')], [...affected, other]);
    expect(decided).toMatchObject({ level: 'breaking', verdict: 'fail' });
    expect(decided?.affected.map(({ hash }) => hash)).toEqual(affected);
  });

  it.each(['Query.users(first:)', 'By.first', '@mask(first:)'])(
    '%s is not required when null is allowed: a warning',
    async (coordinate) => {
      const texts = ['{ users { id } user(by: {}) { id @mask } }'];
      const decided = await decide(coordinate, [toSdl('Int = 1'), toSdl('Int')], texts);
      expect(decided).toMatchObject({ level: 'dangerous', verdict: 'warn' });
    },
  );
});
