/** Attacks by GraphQL documents, variables and persisted queries over HTTP. */
import { createHash } from 'node:crypto';
import { type Attack, type Field, GRAPHQL_SERVICES, atEach, demand, scaled } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import { checkGraphqlReplies } from '../wire/envelope.ts';
import { ask, askGraphql, inParallel } from '../wire/http.ts';

const repeat = (count: number, part: (index: number) => string) => Array.from({ length: count }, (_, index) => part(index)).join('');

/** Each document differs, so that each fills a place in every cache of documents. */
async function introspect(field: Field): Promise<string> {
  const full = 'fragment f on __Schema{types{name description fields{name description args{name}type{name ofType{name}}}}}';
  const replies = await inParallel(scaled(field, 60), 4, (n) =>
    askGraphql(field.connections, field.addresses.gateway, { query: `{${repeat(400, (i) => `a${n}_${i}:__schema{...f}`)}} ${full}` }),
  );
  const largest = Math.max(...replies.map(({ body }) => body.length));
  demand(largest < 32 * 1024 * 1024, `an answer had ${largest} bytes`);
  return `${checkGraphqlReplies(replies)}; largest ${largest} bytes`;
}

async function introspectPlainly(field: Field): Promise<string> {
  // Within every limit of aliases: what a cache holds of each must still be bounded.
  const replies = await inParallel(scaled(field, 300), 4, (n) =>
    askGraphql(field.connections, field.addresses.gateway, {
      query: `{${repeat(10, (i) => `a${n}_${i}:__schema{types{name description fields{name description}}}`)}}`,
    }),
  );
  return checkGraphqlReplies(replies);
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
  return checkGraphqlReplies(replies);
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
  return checkGraphqlReplies(replies);
}

/** Valid documents that all differ, as fast as the planner takes them. */
async function planFlood(field: Field): Promise<string> {
  const replies = await inParallel(scaled(field, 1500), 16, (n) =>
    askGraphql(field.connections, field.addresses.gateway, {
      query: `query P${n}{productsConnection(first:1){edges{node{id a${n}:name ${repeat(20, (i) => `...f${i} `)}}}}}${repeat(20, (i) => `fragment f${i} on Product{b${i % 5}_${n}:price currency}`)}`,
    }),
  );
  return checkGraphqlReplies(replies);
}

async function persistedFlood(field: Field): Promise<string> {
  const replies = await inParallel(scaled(field, 4000), 16, (n) => {
    const query = `query P${n}{__typename} #${'x'.repeat(8000)}`;
    const sha256Hash = createHash('sha256').update(query).digest('hex');
    return askGraphql(field.connections, field.addresses.gateway, { query, extensions: { persistedQuery: { version: 1, sha256Hash } } });
  });
  return checkGraphqlReplies(replies);
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
  return `${checkGraphqlReplies([...replies, ...short])}; /metrics ${metrics.body.length} bytes`;
}

/** 28 bodies of posts a hundred times over: an answer of megabytes for few bytes of request. */
async function largeAnswers(field: Field): Promise<string> {
  const query = `{postsConnection(first:100){edges{node{${repeat(28, (i) => `b${i}:body `)}}}}}`;
  const replies = await inParallel(scaled(field, 200), 16, () => askGraphql(field.connections, field.addresses.gateway, { query }));
  return `${checkGraphqlReplies(replies)}; ${(replies[0]?.body.length ?? 0) >> 10} KiB each`;
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

/** GraphQL §6.1, GetOperation: several operations and no name is a request error. */
async function namelessOperations({ connections, addresses }: Field): Promise<string> {
  for (const target of GRAPHQL_SERVICES) {
    for (const query of ['query A{__typename} query B{__typename}', 'fragment a on Query{__typename}', '']) {
      const { status, body } = await askGraphql(connections, addresses[target], { query });
      demand(status === 400 && body.includes('VALIDATION_ERROR'), `${target}: status ${status}: ${body.toString().slice(0, 200)}`);
    }
  }
  return '400 at each';
}

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
  ...atEach(GRAPHQL_SERVICES, (target) => ({
    name: `fragments that spread each other twice at ${target}`,
    target,
    family: 'documents',
    clause: 'Planning and validation are linear in the document',
    isLoad: true,
    ...(target === 'gateway' && { isShort: true }),
    run: (field) => fragmentBomb(field, target),
  })),
  ...atEach(GRAPHQL_SERVICES, (target) => ({
    name: `documents that are costly to parse or validate at ${target}`,
    target,
    family: 'documents',
    clause: 'MAX_TOKENS 4,000, MAX_DEPTH 12, MAX_ALIASES 30, MAX_ROOT_FIELDS 20',
    isLoad: true,
    ...(target === 'gateway' && { isShort: true }),
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
    name: 'documents that name no operation',
    target: 'users',
    family: 'documents',
    clause: 'GraphQL §6.1: a request error, whichever process is asked',
    isShort: true,
    run: namelessOperations,
  },
  {
    name: 'operation names without end',
    target: 'gateway',
    family: 'documents',
    clause: 'Names are limited and label sets bounded in bytes',
    isShort: true,
    run: longNames,
  },
  {
    name: 'large answers, read at once',
    target: 'gateway',
    family: 'documents',
    clause: 'An answer has a size limit; what is written is bounded for the process',
    isLoad: true,
    run: largeAnswers,
  },
];
