/** Attacks by GraphQL documents, variables and persisted queries over HTTP. */
import { createHash } from 'node:crypto';
import { type Attack, type Field, demand, scaled } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import { ask, askGraphql, countStatuses, inParallel } from '../wire/http.ts';
import type { RawReply } from '../wire/http-reply.ts';

const GRAPHQL = ['gateway', 'users', 'orders', 'content'] as const;
const repeat = (count: number, part: (index: number) => string) => Array.from({ length: count }, (_, index) => part(index)).join('');

/** Throws a breach for any answer that says INTERNAL_ERROR, is a 5xx, or did not arrive. */
function checkAll(replies: readonly RawReply[]): string {
  for (const { status, body } of replies) {
    const text = body.toString('utf8', 0, 100_000);
    demand(status > 0, `no answer (${countStatuses(replies)})`);
    demand(
      !text.includes('INTERNAL_ERROR') && (status < 500 || status === 503 || status === 504),
      `status ${status}: ${text.slice(0, 300)}`,
    );
  }
  return countStatuses(replies);
}

/** Each document differs, so that each fills a place in every cache of documents. */
async function introspect(field: Field): Promise<string> {
  const full = 'fragment f on __Schema{types{name description fields{name description args{name}type{name ofType{name}}}}}';
  const replies = await inParallel(scaled(field, 60), 4, (n) =>
    askGraphql(field.connections, field.addresses.gateway, { query: `{${repeat(400, (i) => `a${n}_${i}:__schema{...f}`)}} ${full}` }),
  );
  const largest = Math.max(...replies.map(({ body }) => body.length));
  demand(largest < 32 * 1024 * 1024, `an answer had ${largest} bytes`);
  return `${checkAll(replies)}; largest ${largest} bytes`;
}

async function introspectPlainly(field: Field): Promise<string> {
  // Within every limit of aliases: what a cache holds of each must still be bounded.
  const replies = await inParallel(scaled(field, 300), 4, (n) =>
    askGraphql(field.connections, field.addresses.gateway, {
      query: `{${repeat(10, (i) => `a${n}_${i}:__schema{types{name description fields{name description}}}`)}}`,
    }),
  );
  return checkAll(replies);
}

/** Thirty levels of fragments that each spread the next one twice: 2^30 fields when written out. */
async function fragmentBomb(field: Field, target: ServiceName): Promise<string> {
  const levels = 30;
  const bomb = (n: number) =>
    `query B${n}{productsConnection(first:1){...f0}}${repeat(levels, (i) => ` fragment f${i} on ProductConnection{totalCount ...f${i + 1} ...f${i + 1}}`)} fragment f${levels} on ProductConnection{totalCount}`;
  const objects = (n: number) =>
    `query O${n}{productsConnection(first:1){edges{node{...f0}}}}${repeat(levels, (i) => ` fragment f${i} on Product{id ... on Node{...f${i + 1}} ... on Product{...f${i + 1}}}`)} fragment f${levels} on Product{id}`;
  const fields = (n: number) =>
    `query F${n}{productsConnection(first:1){...f0}}${repeat(200, (i) => ` fragment f${i} on ProductConnection{totalCount ${i < 199 ? `...f${i + 1}` : ''}}`)}`;
  const replies = await inParallel(scaled(field, 24), 3, (n) =>
    askGraphql(field.connections, field.addresses[target], { query: [bomb, objects, fields][n % 3]?.(n) ?? '' }),
  );
  return checkAll(replies);
}

/** Costly to parse, to validate or to plan, each in another way. */
async function costlyDocuments(field: Field, target: ServiceName): Promise<string> {
  const documents: ((n: number) => string)[] = [
    (n) => `{${repeat(1900, (i) => `f${i}_${n}:__typename `)}}`,
    (n) => `{${repeat(300, (i) => `__typename @skip(if:false) @include(if:true) #${n}${i}\n`)}}`,
    (n) => `{${repeat(1000, () => '...a ')}}fragment a on Query{__typename} #${n}`,
    (n) => `query(${repeat(900, (i) => `$v${i}_${n}:Int `)}){__typename}`,
    (n) => `{a${n}:__typename ${'# '.repeat(300_000)}\n}`,
    (n) => `{product(id:"""${'\n  '.repeat(100_000)}${n}"""){id}}`,
    (n) => `{product(id:${'['.repeat(900)}${n}${']'.repeat(900)}){id}}`,
    (n) => `{product(id:${'{a:'.repeat(900)}${n}${'}'.repeat(900)}){id}}`,
    (n) => `{${'productsConnection(first:1){edges{node{'.repeat(150)}id${'}}}'.repeat(150)}} #${n}`,
    (n) => `query($a:${'['.repeat(1500)}Int${']'.repeat(1500)}){__typename} #${n}`,
    (n) => `{${'... on Query{'.repeat(900)}__typename${'}'.repeat(900)}} #${n}`,
    (n) => `{x${n}:product(id:${'9'.repeat(200_000)}){id}}`,
    (n) => `{x${n}:product(id:"${'\\u{1F600}'.repeat(50_000)}"){id}}`,
    (n) => repeat(1000, (i) => `query Q${i}_${n}{__typename}`),
    (n) => `{${repeat(40, (i) => `productsConnection(first:${i + 1}){totalCount}`)}} #${n}`,
    (n) => `{${repeat(300, (i) => `productsConnection(first:1){edges{node{n${i % 29}:name}}}`)}} #${n}`,
  ];
  const replies = await inParallel(scaled(field, 320), 8, (n) =>
    askGraphql(field.connections, field.addresses[target], { query: documents[n % documents.length]?.(n) ?? '' }),
  );
  return checkAll(replies);
}

/** Valid documents that all differ, as fast as the planner takes them. */
async function planFlood(field: Field): Promise<string> {
  const replies = await inParallel(scaled(field, 1500), 16, (n) =>
    askGraphql(field.connections, field.addresses.gateway, {
      query: `query P${n}{productsConnection(first:1){edges{node{id a${n}:name ${repeat(20, (i) => `...f${i} `)}}}}}${repeat(20, (i) => `fragment f${i} on Product{b${i % 5}_${n}:price currency}`)}`,
    }),
  );
  return checkAll(replies);
}

async function persistedFlood(field: Field): Promise<string> {
  const replies = await inParallel(scaled(field, 4000), 16, (n) => {
    const query = `query P${n}{__typename} #${'x'.repeat(8000)}`;
    const sha256Hash = createHash('sha256').update(query).digest('hex');
    return askGraphql(field.connections, field.addresses.gateway, { query, extensions: { persistedQuery: { version: 1, sha256Hash } } });
  });
  return checkAll(replies);
}

/** Names go to metrics, logs and traces. */
async function longNames(field: Field): Promise<string> {
  const { connections, addresses } = field;
  const replies = await inParallel(scaled(field, 120), 4, (n) =>
    askGraphql(connections, addresses.gateway, { query: `query N${n}${'x'.repeat(700_000)}{__typename}` }),
  );
  const short = await inParallel(scaled(field, 1000), 8, (n) =>
    askGraphql(connections, addresses.gateway, { query: `query M${n}{__typename}`, operationName: `M${n}` }),
  );
  const metrics = await ask(connections, addresses.gateway, { path: '/metrics' });
  demand(metrics.body.length < 1024 * 1024, `/metrics has ${metrics.body.length} bytes`);
  return `${checkAll([...replies, ...short])}; /metrics ${metrics.body.length} bytes`;
}

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
  return checkAll(replies);
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
  return checkAll(await inParallel(queries.length, 4, (n) => askGraphql(field.connections, field.addresses.gateway, queries[n] ?? {})));
}

/** What only the gateway asks for, asked for by somebody else. */
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

/** 28 bodies of posts a hundred times over: an answer of megabytes for few bytes of request. */
async function largeAnswers(field: Field): Promise<string> {
  const query = `{postsConnection(first:100){edges{node{${repeat(28, (i) => `b${i}:body `)}}}}}`;
  const replies = await inParallel(scaled(field, 200), 16, () => askGraphql(field.connections, field.addresses.gateway, { query }));
  return `${checkAll(replies)}; ${(replies[0]?.body.length ?? 0) >> 10} KiB each`;
}

async function introspectConditionally({ connections, addresses }: Field): Promise<string> {
  const query = 'query($b:Boolean!){__schema @include(if:$b){queryType{name}}}';
  const [shown, hidden] = await Promise.all(
    [true, false].map((b) => askGraphql(connections, addresses.gateway, { query, variables: { b } })),
  );
  demand(shown?.body.toString().includes('"Query"') === true, `with true: ${shown?.body.toString() ?? ''}`);
  demand(hidden?.body.toString().includes('__schema') === false, `with false: ${hidden?.body.toString() ?? ''}`);
  return 'shown with true, left out with false';
}

const each = (make: (target: ServiceName) => Attack, targets: readonly ServiceName[] = GRAPHQL): Attack[] => targets.map(make);

export const DOCUMENT_ATTACKS: readonly Attack[] = [
  {
    name: '400 aliases of introspection',
    target: 'gateway',
    family: 'documents',
    clause: 'MAX_ALIASES 30 counts meta fields; every cache is bounded in bytes',
    isLoad: true,
    isShort: true,
    run: introspect,
  },
  {
    name: 'introspection in ever new documents',
    target: 'gateway',
    family: 'documents',
    clause: 'Every cache is bounded in bytes; answers have a size limit',
    isLoad: true,
    run: introspectPlainly,
  },
  {
    name: 'introspection on a condition',
    target: 'gateway',
    family: 'documents',
    clause: 'GraphQL §3.13.2: @include(if: true) includes the field',
    isShort: true,
    run: introspectConditionally,
  },
  ...each((target) => ({
    name: `fragments that spread each other twice at ${target}`,
    target,
    family: 'documents',
    clause: 'Planning and validation are linear in the document',
    isLoad: true,
    isShort: true,
    run: (field) => fragmentBomb(field, target),
  })),
  ...each((target) => ({
    name: `documents that are costly to parse or validate at ${target}`,
    target,
    family: 'documents',
    clause: 'MAX_TOKENS 4,000, MAX_DEPTH 12, MAX_ALIASES 30, MAX_ROOT_FIELDS 20',
    isLoad: true,
    isShort: true,
    run: (field) => costlyDocuments(field, target),
  })),
  {
    name: 'ever new documents to plan',
    target: 'gateway',
    family: 'documents',
    clause: 'Planning is fair: one client’s documents do not hold up others',
    isLoad: true,
    run: planFlood,
  },
  {
    name: 'registrations of persisted queries',
    target: 'gateway',
    family: 'documents',
    clause: 'Every cache is bounded in bytes',
    isLoad: true,
    run: persistedFlood,
  },
  {
    name: 'operation names without end',
    target: 'gateway',
    family: 'documents',
    clause: 'Names are limited and label sets bounded in bytes',
    isShort: true,
    run: longNames,
  },
  ...each((target) => ({
    name: `values that no store takes at ${target}`,
    target,
    family: 'documents',
    clause: 'Bad input gets a coded error, never INTERNAL_ERROR (spec §7)',
    isShort: true,
    run: (field) => hostileValues(field, target),
  })),
  {
    name: 'forged cursors and windows',
    target: 'gateway',
    family: 'documents',
    clause: 'A cursor that was not given is VALIDATION_ERROR; pages have 1 to 100 entries',
    run: forgeCursors,
  },
  ...each(
    (target) => ({
      name: `lists of entities at ${target}`,
      target,
      family: 'documents',
      clause: 'A list of representations is bounded; each stands for itself',
      isLoad: true,
      run: (field) => hugeEntities(field, target),
    }),
    ['users', 'orders', 'content'],
  ),
  {
    name: 'large answers, read at once',
    target: 'gateway',
    family: 'documents',
    clause: 'An answer has a size limit; what is written is bounded for the process',
    isLoad: true,
    run: largeAnswers,
  },
];
