/** Attacks by variables: values that no store accepts, forged cursors and positions, and very long lists. */
import { type Attack, type Field, GRAPHQL_SERVICES, atEach, demand, scaled } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import { checkGraphqlReplies } from '../wire/envelope.ts';
import { ask, askGraphql, countStatuses, inParallel } from '../wire/http.ts';

/** Values that a store or a scalar does not take. */
async function hostileValues(field: Field, target: ServiceName): Promise<string> {
  const texts = [
    '\u0000',
    'a\u0000b',
    '\ud800',
    '__proto__',
    'constructor',
    '%',
    '_',
    "'",
    '\\',
    '🂡'.repeat(500),
    'x'.repeat(900_000),
    '-'.repeat(5000),
    '"a" or "b" '.repeat(5000),
    '('.repeat(5000),
  ];
  const times = [
    '0000-01-01T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '+275760-09-13T00:00:00.001Z',
    '9999-12-31T23:59:60Z',
    '2026-02-30T00:00:00Z',
    'Infinity',
  ];
  const byOwner: Readonly<Record<string, readonly string[]>> = {
    users: [
      'query($v:ID!){user(id:$v){id}}',
      'query($v:ID!){node(id:$v){id}}',
      'query($v:String!){searchUsers(query:$v){id}}',
      'query($v:String){usersConnection(filter:{search:$v}){totalCount}}',
      'query($v:String){usersConnection(after:$v){totalCount}}',
      'query($v:DateTime){usersConnection(filter:{createdAtGte:$v}){totalCount}}',
      'mutation($v:String!){login(email:$v,password:$v){token}}',
    ],
    orders: [
      'query($v:ID!){product(id:$v){id}}',
      'query($v:String){productsConnection(filter:{search:$v}){totalCount}}',
      'query($v:DateTime){productsConnection(filter:{createdAtLte:$v}){totalCount}}',
      'query($v:String){productsConnection(before:$v,last:1){totalCount}}',
    ],
    content: [
      'query($v:ID!){post(id:$v){id}}',
      'query($v:String){postsConnection(filter:{search:$v}){totalCount}}',
      'query($v:String){postsConnection(filter:{tag:$v}){totalCount}}',
      'query($v:ID!){channel(id:$v){messagesConnection{totalCount}}}',
      'query($v:DateTime){commentsConnection(filter:{updatedAtGte:$v}){totalCount}}',
    ],
  };
  const queries = target === 'gateway' ? Object.values(byOwner).flat() : (byOwner[target] ?? []);
  const sent = queries.flatMap((query) => (query.includes('DateTime') ? times : texts).map((v) => ({ query, variables: { v } })));
  const failed: string[] = [];
  const replies = await inParallel(sent.length, 4, async (n) => {
    const parameters = sent[n] as (typeof sent)[number];
    const reply = await askGraphql(field.connections, field.addresses[target], parameters);
    const isFault = reply.status === 0 || reply.body.toString('utf8', 0, 5000).includes('INTERNAL_ERROR');
    if (isFault) failed.push(`${parameters.query} with ${JSON.stringify(parameters.variables.v).slice(0, 20)} (${reply.status})`);
    return reply;
  });
  demand(
    failed.length === 0,
    `${failed.length} of ${replies.length} were INTERNAL_ERROR or had no answer: ${failed.slice(0, 4).join(', ')}`,
  );
  return checkGraphqlReplies(replies);
}

/** Cursors that no server ever gave, and windows beyond every number. */
async function forgeCursors(field: Field): Promise<string> {
  const encode = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const values = [
    '',
    '[]',
    '{}',
    'null',
    '[1]',
    '["a"]',
    '[null,null]',
    '["x","y","z"]',
    '{"__proto__":1}',
    '['.repeat(20_000),
    '1e999',
    '"\\u0000"',
    JSON.stringify(['9'.repeat(5000)]),
    'x'.repeat(500_000),
  ];
  const cursors = [
    ...values.map(encode),
    ...values.map((value) => Buffer.from(value).toString('base64')),
    ...Array.from({ length: 60 }, () => field.random.bytes(40).toString('base64url')),
  ];
  const numbers = [-1, 0, 101, 2 ** 31 - 1];
  const queries = ['usersConnection', 'productsConnection', 'postsConnection', 'commentsConnection'].flatMap((name) => [
    ...cursors.map((after) => ({
      query: `query($v:String){${name}(first:1,after:$v){totalCount edges{cursor}}}`,
      variables: { v: after },
    })),
    ...numbers.map((v) => ({ query: `query($v:Int){${name}(first:1,offset:$v){totalCount edges{cursor}}}`, variables: { v } })),
    ...numbers.map((v) => ({ query: `query($v:Int){${name}(first:$v){totalCount}}`, variables: { v } })),
  ]);
  return checkGraphqlReplies(
    await inParallel(queries.length, 4, (n) => askGraphql(field.connections, field.addresses.gateway, queries[n] ?? {})),
  );
}

/** Sends to subgraphs the operations that only the gateway sends. */
async function hugeEntities(field: Field, target: ServiceName): Promise<string> {
  const typeName = { users: 'User', orders: 'Product', content: 'Post' }[target as 'users'];
  const query = `query($r:[_Any!]!){_entities(representations:$r){__typename ... on ${typeName}{id}}}`;
  const nested = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  const many = (count: number, make: (index: number) => unknown) =>
    JSON.stringify(Array.from({ length: count }, (_, index) => make(index)));
  const sets = [
    many(15_000, (i) => ({ __typename: typeName, id: `usr_${i}` })),
    many(15_000, () => ({ __typename: typeName, id: '\u0000' })),
    `[{"__typename":"${typeName}","id":${nested}}]`,
    `[{"__typename":"${typeName}","__proto__":${nested}}]`,
    JSON.stringify([{ __typename: 'Nothing' }, {}, { __typename: typeName }, { __typename: '__proto__', id: '1' }]),
    JSON.stringify([
      { __typename: typeName, id: ['1', '2'] },
      { __typename: typeName, id: { toString: 1 } },
    ]),
    many(5, () => ({ __typename: typeName, id: 'x'.repeat(150_000) })),
  ];
  const replies = await inParallel(scaled(field, 10) * sets.length, 4, (n) =>
    ask(field.connections, field.addresses[target], {
      path: '/graphql',
      headers: ['Content-Type', 'application/json'],
      body: `{"query":${JSON.stringify(query)},"variables":{"r":${sets[n % sets.length] ?? ''}}}`,
    }),
  );
  const answered = replies.filter(({ status }) => status > 0).length;
  demand(answered === replies.length, `${replies.length - answered} of ${replies.length} requests had no answer`);
  return countStatuses(replies);
}

export const VALUE_ATTACKS: readonly Attack[] = [
  ...atEach(GRAPHQL_SERVICES, (target) => ({
    name: `values that no store takes at ${target}`,
    target,
    family: 'documents',
    clause: 'Bad input gets a coded error, never INTERNAL_ERROR (spec §7)',
    ...(target === 'gateway' && { isShort: true }),
    run: (field) => hostileValues(field, target),
  })),
  {
    name: 'forged cursors and windows',
    target: 'gateway',
    family: 'documents',
    clause: 'A cursor that was not given is VALIDATION_ERROR; pages have 1 to 100 entries',
    run: forgeCursors,
  },
  ...atEach(['users', 'orders', 'content'], (target) => ({
    name: `lists of entities at ${target}`,
    target,
    family: 'documents',
    clause: 'A list of representations is bounded; each stands for itself',
    isLoad: true,
    run: (field) => hugeEntities(field, target),
  })),
];
