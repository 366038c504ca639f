/** Changes of a schema, decided by the operations that clients sent. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildSchema, parse, validate } from 'graphql';
import { listChanges } from './changes.ts';
import { DEFAULT_POLICY, type UsagePolicy } from './policy.ts';
import { type RecordedOperation, type RecordedUsage, decideChanges } from './usage.ts';

/** `npm run test:long` sets it. */
const IS_LONG = process.env['TEST_LENGTH'] === 'long';
const RUNS = IS_LONG ? 150 : 60;

const CLIENT = { name: 'web', version: '1.4', count: 1000, lastSeen: '2026-01-30T10:00:00Z' };

function recordOperation(text: string, more: Partial<RecordedOperation> = {}): RecordedOperation {
  return { hash: text, name: /(?:query|mutation) (\w+)/u.exec(text)?.[1] ?? null, text, clients: [CLIENT], ...more };
}

// eslint-disable-next-line size/max-params -- the circumstances of one decision, most of them usual
async function decide(schemas: [string, string], operations: (string | RecordedOperation)[], policy: Partial<UsagePolicy> = {}, days = 30) {
  const [from, to] = schemas.map((sdl) => buildSchema(sdl)) as [ReturnType<typeof buildSchema>, ReturnType<typeof buildSchema>];
  const usage: RecordedUsage = {
    days,
    operations: operations.map((each) => (typeof each === 'string' ? recordOperation(each) : each)),
  };
  const changes = await listChanges(from, to);
  return decideChanges({ schema: from, next: to, changes, usage, policy: { ...DEFAULT_POLICY, ...policy } });
}

/** Returns the verdicts of changes that are not safe, as `coordinate verdict`. */
async function verdicts(...parameters: Parameters<typeof decide>) {
  return (await decide(...parameters)).filter(({ level }) => level !== 'safe').map(({ coordinate, verdict }) => `${coordinate} ${verdict}`);
}

const BASE = `
  directive @mask(with: String) on FIELD
  type Query { user(id: ID, by: By, first: Int = 10): User node: Node search: [Hit] me: User orders(sort: Sort, sorts: [Sort]): [Order] }
  type User implements Node { id: ID! name: String nameFull: String status: Status }
  interface Node { id: ID! } type Post { title: String } union Hit = User | Post
  type Order { status: Status total: Int }
  enum Status { OPEN CLOSED } enum Sort { NEWEST OLDEST }
  input By { email: String name: String range: Range } input Range { from: Int to: Int }`;
const change = (from: string, to: string): [string, string] => {
  if (!BASE.includes(from)) throw new Error(`No ${from} in the schema.`);
  return [BASE, BASE.replace(from, to)];
};

describe('decideChanges', () => {
  test.each<[string, [string, string], string, string, string]>([
    ['a removed field', change('name: String nameFull', 'nameFull'), '{ me { name } }', '{ me { nameFull } }', 'User.name'],
    ['a changed type', change('total: Int', 'total: String'), '{ orders { total } }', '{ orders { status } }', 'Order.total'],
    ['a removed argument', change('(id: ID, by', '(by'), '{ user(id: 1) { id } }', '{ user { id } }', 'Query.user(id:)'],
    ['a new required argument', change('me: User', 'me(x: Int!): User'), '{ me { id } }', '{ user { id } }', 'Query.me(x:)'],
    [
      'an argument that becomes required',
      change('(id: ID,', '(id: ID!,'),
      'query($i: ID) { user(id: $i) { id } }',
      '{ me { id } }',
      'Query.user(id:)',
    ],
    [
      'a changed default',
      change('first: Int = 10', 'first: Int = 5'),
      '{ user { id } }',
      '{ user(first: 3) { id } }',
      'Query.user(first:)',
    ],
    [
      'an enum value given as a literal',
      change('NEWEST OLDEST', 'NEWEST'),
      '{ orders(sort: OLDEST) { total } }',
      '{ orders(sort: NEWEST) { total } }',
      'Sort.OLDEST',
    ],
    [
      'an enum value that a variable may give',
      change('NEWEST OLDEST', 'NEWEST'),
      'query($s: [Sort]) { orders(sorts: $s) { total } }',
      '{ orders { total } }',
      'Sort.OLDEST',
    ],
    [
      'a new enum value that a result may have',
      change('OPEN CLOSED', 'OPEN CLOSED LATE'),
      '{ orders { status } }',
      '{ orders { total } }',
      'Status.LATE',
    ],
    [
      'a removed input field',
      change('email: String name', 'name'),
      '{ user(by: { email: "" }) { id } }',
      '{ user(by: { name: "" }) { id } }',
      'By.email',
    ],
    [
      'a removed input field below a variable',
      change('from: Int to', 'to'),
      'query($b: By) { user(by: $b) { id } }',
      '{ user(id: 1) { id } }',
      'Range.from',
    ],
    ['an input field of a removed literal', change('email: String name', 'name'), '{ user(by: {}) { id } }', '{ me { id } }', 'By.email'],
    [
      'a new required input field',
      change('input Range {', 'input Range { step: Int!'),
      '{ user(by: { range: { to: 1 } }) { id } }',
      '{ user(by: { name: "" }) { id } }',
      'Range.step',
    ],
    [
      'an input field that becomes required',
      change('to: Int }', 'to: Int! }'),
      '{ user(by: { range: { from: 1 } }) { id } }',
      '{ user(by: { name: "" }) { id } }',
      'Range.to',
    ],
    ['a removed interface', change('User implements Node', 'User'), '{ node { id } }', '{ me { id } }', 'User'],
    ['a removed union member', change('= User | Post', '= User'), '{ search { __typename } }', '{ me { id } }', 'Hit'],
    ['a new union member', change('= User | Post', '= User | Post | Order'), '{ search { __typename } }', '{ me { id } }', 'Hit'],
    ['a new implementation', [BASE, `${BASE} type Robot implements Node { id: ID! }`], '{ node { id } }', '{ me { id } }', 'Robot'],
    ['a removed directive', change('directive @mask(with: String) on FIELD', ''), '{ me { id @mask } }', '{ me { id } }', '@mask'],
  ])('finds the operation that %s affects, and no other', async (_, schemas, affected, other, coordinate) => {
    const found = (await decide(schemas, [affected, other])).filter((each) => each.coordinate === coordinate && each.level !== 'safe');
    expect(found.map((each) => each.affected.map(({ hash }) => hash))).toEqual([[affected]]);
  });

  const REMOVED = change('name: String nameFull', 'nameFull');

  test('names operation, client, version, last request and share of the traffic', async () => {
    const clients = [CLIENT, { name: null, version: null, count: 3000, lastSeen: '2026-01-31T00:00:00Z' }];
    const [decided] = await decide(REMOVED, [recordOperation('query Me { me { name } }', { clients }), '{ me { id } }']);
    expect(decided).toMatchObject({ level: 'breaking', coordinate: 'User.name', verdict: 'fail', affectedCount: 1 });
    const { name, count, percent, lastSeen, clients: named } = decided?.affected[0] ?? {};
    expect({ name, count, percent, lastSeen }).toEqual({ name: 'Me', count: 4000, percent: 80, lastSeen: '2026-01-31T00:00:00Z' });
    expect(named).toMatchObject([
      { name: null, percent: 60 },
      { ...CLIENT, percent: 20 },
    ]);
  });

  test('says that there is not enough data when too few requests or days were recorded and none is affected', async () => {
    const rare = recordOperation('{ me { id } }', { clients: [{ ...CLIENT, count: 99 }] });
    expect(await verdicts(REMOVED, [rare])).toEqual(['User.name not_enough_data']);
    expect(await verdicts(REMOVED, ['{ me { id } }'], {}, 6)).toEqual(['User.name not_enough_data']);
    expect(await verdicts(REMOVED, ['{ me { id } }'], {}, 7)).toEqual(['User.name pass']);
    expect(await verdicts(REMOVED, [recordOperation('{ me { name } }', { clients: [{ ...CLIENT, count: 1 }] })])).toEqual([
      'User.name fail',
    ]);
  });

  test('says that there is not enough data when not every operation is known, and still finds those that are affected', () => {
    const [from, to] = REMOVED.map((sdl) => buildSchema(sdl)) as [ReturnType<typeof buildSchema>, ReturnType<typeof buildSchema>];
    const find = async (text: string) => {
      const usage: RecordedUsage = { days: 30, operations: [recordOperation(text)], isComplete: false };
      const policy = { ...DEFAULT_POLICY, enoughDays: 0, enoughRequests: 0 };
      return decideChanges({ schema: from, next: to, changes: await listChanges(from, to), usage, policy }).map(({ verdict }) => verdict);
    };
    return Promise.all([
      expect(find('{ me { id } }')).resolves.toEqual(['not_enough_data']),
      expect(find('{ me { name } }')).resolves.toEqual(['fail']),
    ]);
  });

  test('says that there is not enough data while a counted operation has a document that does not parse', async () => {
    const unreadable = recordOperation('{ me { name', { clients: [{ ...CLIENT, name: 'old', version: null }] });
    const readable = '{ me { id } }';
    expect(await verdicts(REMOVED, [readable])).toEqual(['User.name pass']);
    expect(await verdicts(REMOVED, [readable, unreadable])).toEqual(['User.name not_enough_data']);
    expect(await verdicts(REMOVED, [readable, unreadable], { excludedClients: ['old'] })).toEqual(['User.name pass']);
    expect(await verdicts(REMOVED, ['{ me { name } }', unreadable])).toEqual(['User.name fail']);
  });

  test('applies the policy: thresholds, anonymous clients, exclusions, inputs and additions', async () => {
    const anonymous = recordOperation('{ me { name } }', { clients: [{ ...CLIENT, name: null, version: null, count: 5 }] });
    const rest = '{ me { id } }';
    expect(await verdicts(REMOVED, [anonymous, rest])).toEqual(['User.name fail']);
    for (const policy of [{ minimumPercent: 1 }, { minimumCount: 6 }, { anonymousClients: 'ignore' as const }])
      expect(await verdicts(REMOVED, [anonymous, rest], policy)).toEqual(['User.name pass']);
    const old = recordOperation('query Old { me { name } }', { clients: [{ ...CLIENT, version: '0.9' }] });
    for (const policy of [{ excludedClients: ['web@0.9'] }, { excludedOperations: ['Old'] }])
      expect(await verdicts(REMOVED, [old, rest], policy)).toEqual(['User.name pass']);
    expect(await verdicts(change('email: String name', 'name'), [rest], { inputs: 'always' })).toEqual(['By.email fail']);
    const added = change('OPEN CLOSED', 'OPEN CLOSED LATE');
    for (const [additions, verdict] of [
      ['ignore', 'pass'],
      ['warn', 'warn'],
      ['fail', 'fail'],
    ] as const)
      expect(await verdicts(added, ['{ orders { status } }'], { additions })).toEqual([`Status.LATE ${verdict}`]);
  });

  test('applies the policy of additions to a new implementation of a known interface, and to none of a new interface', async () => {
    const robot = 'type Robot implements Node { id: ID! }';
    const added: [string, string] = [BASE, `${BASE} ${robot}`];
    for (const [additions, verdict] of [
      ['ignore', 'pass'],
      ['warn', 'warn'],
      ['fail', 'fail'],
    ] as const)
      expect(await verdicts(added, ['{ node { id } }'], { additions })).toEqual([`Robot ${verdict}`]);
    const named = 'interface Named { name: String } type Robot implements Named { name: String }';
    // An interface that implements another one is in no result.
    const derived = 'interface Machine implements Node { id: ID! }';
    for (const types of [named, derived])
      expect(await verdicts([BASE, `${BASE} ${types}`], ['{ node { id } }'], { additions: 'fail' })).toEqual([]);
  });

  test('passes what is deprecated, no longer deprecated, or deprecated for another reason', async () => {
    const old = (reason: string) =>
      BASE.replace('me: User', `me: User @deprecated${reason}`)
        .replace('id: ID,', `id: ID @deprecated${reason},`)
        .replace('CLOSED', `CLOSED @deprecated${reason}`)
        .replace('email: String', `email: String @deprecated${reason}`);
    const schemas = [BASE, old(''), old('(reason: "one")'), old('(reason: "two")')];
    const operations = ['{ me { id } }', '{ user(id: 1) { id } }', '{ orders { status } }', '{ user(by: { email: "" }) { id } }'];
    for (const from of schemas)
      for (const to of schemas) expect(await verdicts([from, to], operations, { dangerous: 'fail', additions: 'fail' })).toEqual([]);
    const changes = await listChanges(buildSchema(schemas[2] ?? ''), buildSchema(schemas[3] ?? ''));
    expect(changes.map(({ coordinate }) => coordinate).filter((each) => /^(Query\.me|Status)/u.test(each))).toEqual([
      'Query.me.@deprecated',
      'Status.CLOSED.@deprecated',
    ]);
  });

  test('takes what variables were seen to contain in place of what they may contain', async () => {
    const text = 'query($b: By, $s: Sort) { user(by: $b) { id } orders(sort: $s) { total } }';
    const seen = recordOperation(text, { seenInputs: ['By.name', 'Sort.NEWEST'] });
    expect(await verdicts(change('email: String name', 'name'), [seen])).toEqual(['By.email pass']);
    expect(await verdicts(change('email: String name: String', 'email: String'), [seen])).toEqual(['By.name fail']);
    expect(await verdicts(change('NEWEST OLDEST', 'OLDEST'), [seen])).toEqual(['Sort.NEWEST fail']);
    expect(await verdicts(change('from: Int to', 'to'), [seen])).toEqual(['Range.from pass']);
  });

  test('passes over fields that the schema does not have', async () => {
    expect(await verdicts(REMOVED, ['{ nothing { name } }', '{ me { id } }'])).toEqual(['User.name pass']);
  });

  test('finds an operation affected exactly when the new schema refuses it, for generated schemas, removals and operations', async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), async (stream) => {
        const next = (below: number) => (stream.next().value as number) % below;
        const fields = Array.from({ length: 3 }, (_, type) =>
          Array.from({ length: 4 }, (_, at) => ({ to: next(4) - 1, key: `T${type}.f${at}` })),
        );
        const removed = new Set([`T${next(3)}.f${next(4)}`, `T${next(3)}.f${next(4)}(a:)`, `E.V${next(3)}`, `I.i${next(3)}`]);
        const print = (without: ReadonlySet<string>) => {
          const lines = fields.map((each, type) => {
            const kept = each
              .filter(({ key }) => !without.has(key))
              .map(({ to, key }) => {
                const parameter = without.has(`${key}(a:)`) ? 'b: Int' : 'a: I';
                return `${key.slice(3)}(${parameter}): ${to < 0 ? 'E' : `T${to}`}`;
              });
            return `type T${type} { ${kept.join(' ')} }`;
          });
          const keep = (type: string, members: string[], suffix: string) =>
            members.flatMap((each) => (without.has(`${type}.${each}`) ? [] : [`${each}${suffix}`])).join(' ');
          return `type Query { t: T0 } ${lines.join(' ')} enum E { ${keep('E', ['V0', 'V1', 'V2'], '')} } input I { ${keep('I', ['i0', 'i1', 'i2'], ': E')} }`;
        };
        const select = (type: number, depth: number): string => {
          const { to, key } = fields[type]?.[next(4)] ?? { to: -1, key: '' };
          const argument = next(2) === 0 ? '' : `(a: { i${next(3)}: V${next(3)} })`;
          if (to >= 0 && depth === 0) return '__typename';
          return `${key.slice(3)}${argument}${to < 0 ? '' : ` { ${select(to, depth - 1)} }`}`;
        };
        const [from, to] = [buildSchema(print(new Set())), buildSchema(print(removed))];
        const operations = Array.from({ length: 5 }, () => `{ t { ${select(0, 3)} } }`);
        const changes = await listChanges(from, to);
        const usage = { days: 30, operations: [...new Set(operations)].map((text) => recordOperation(text)) };
        const breaking = decideChanges({ schema: from, next: to, changes, usage }).filter(({ level }) => level === 'breaking');
        const affected = new Set(breaking.flatMap((each) => each.affected.map(({ hash }) => hash)));
        for (const text of operations) expect({ text, is: affected.has(text) }).toEqual({ text, is: validate(to, parse(text)).length > 0 });
      }),
      { numRuns: RUNS },
    );
  });
});
