/** Every argument and input field of each subgraph with values that break careless code: the answer is a result or a coded error (contract §5). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type IntrospectionQuery, buildClientSchema, getIntrospectionQuery } from 'graphql';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { SubgraphName } from '../../stack/stack.ts';
import { type ArgumentCase, argumentCases, selectionOf } from './argument-cases.ts';
import { tamperedCursors } from './nasty-values.ts';

/** One case in so many is sent, another one to each caller. 1 sends all of them; that takes minutes. */
const ONE_IN = 16;
const AT_ONCE = 8;

let stack: LeasedStack;
/** Ids of what exists, by a word that names of fields and arguments have. */
let ids: Readonly<Record<string, string>>;
let tokens: Readonly<Record<'ANONYMOUS' | 'USER' | 'ADMIN', string | undefined>>;
/** Of an account whose tokens may end. */
let endingToken: string;

beforeAll(async () => {
  stack = await leaseStack();
  const ada = await stack.createAccount('Ada');
  const victim = await stack.createAccount('Victim');
  const admin = await stack.createAccount('Root', 'ADMIN');
  tokens = { ANONYMOUS: undefined, USER: ada.token, ADMIN: admin.token };
  endingToken = (await stack.createAccount('Ending')).token;
  const make = async (token: string, mutation: string) =>
    (await stack.graphql<{ made: { id: string } }>(`mutation { made: ${mutation} { id } }`, { token })).data?.made.id ?? '';
  const product = await make(
    admin.token,
    'createProduct(input: { name: "Rope", category: "ropes", price: 100, currency: "EUR", stock: 1000 })',
  );
  const order = await make(ada.token, `createOrder(input: { productId: "${product}", qty: 1 })`);
  await make(ada.token, `createPayment(input: { amount: 100, currency: "EUR", customerId: "${ada.id}", orderId: "${order}" })`);
  const post = await make(ada.token, 'createPost(input: { title: "Seen", status: PUBLISHED })');
  const comment = await make(ada.token, `createComment(input: { postId: "${post}", body: "Yes" })`);
  const channel = 'chn_01m7ybgss0v3x9c2k7q4n8d5ra';
  await stack.sql('content', `INSERT INTO channels (id, name) VALUES ($1, 'all'), ('chn_01m7ybgss0v3x9c2k7q4n8d5rb', 'more')`, [channel]);
  await stack.sql(
    'content',
    `INSERT INTO videos (id, "ownerId", title, status) VALUES ('vid_01m7ybgss0w2z5c8f3j6m9q4tv', $1, 'Mine', 'UPLOADED')`,
    [ada.id],
  );
  const message = await make(ada.token, `createMessage(input: { channelId: "${channel}", body: "Hello" })`);
  await make(admin.token, 'createProduct(input: { name: "Hook", category: "hooks", price: 1, currency: "EUR", stock: 10 })');
  ids = { product, order, comment, post, channel, message, user: victim.id, customer: ada.id, author: ada.id, owner: ada.id };
});
afterAll(() => stack.stop());

let made = 0;
function ordinary(name: string, type: string, field: string): unknown {
  if (type === 'Int') return 1;
  if (type === 'Boolean') return true;
  if (type === 'DateTime') return '2026-01-01T00:00:00Z';
  if (name === 'email') return `made.${String(++made)}@example.org`;
  if (name === 'password') return 'long-enough-1';
  if (name === 'currency') return 'EUR';
  if (type !== 'ID') return 'ordinary';
  // Later cases need what there is.
  if (field.startsWith('delete')) return 'usr_01m7ybgss00000000000000000';
  const words = `${name} ${field}`.toLowerCase();
  return Object.entries(ids).find(([word]) => words.includes(word))?.[1] ?? ids['user'];
}

interface Sent {
  readonly query: string;
  readonly variables?: object;
  readonly token?: string | undefined;
}

async function send(name: SubgraphName, { query, variables, token }: Sent) {
  const reply = await fetch(`${stack.subgraphs[name].url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors = [] } = (await reply.json()) as { data?: unknown; errors?: { message: string; extensions?: { code?: string } }[] };
  return { status: reply.status, data, codes: errors.map(({ extensions }) => extensions?.code) };
}

function sendCase(name: SubgraphName, { kind, field, args }: ArgumentCase, token: string | undefined) {
  const given = field.args.filter((each) => each.name in args);
  const declared = given.map((each) => `$${each.name}: ${String(each.type)}`).join(', ');
  const passed = given.map((each) => `${each.name}: $${each.name}`).join(', ');
  const selection = selectionOf(field);
  // What ends the caller's tokens must not leave all later cases UNAUTHORIZED.
  const own = field.name.startsWith('logout') && token !== undefined ? endingToken : token;
  return send(name, { query: `${kind} (${declared}) { ${field.name}(${passed}) ${selection} }`, variables: args, token: own });
}

/** Runs the work for all of them, some at a time. */
async function forEach<T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const next = async (): Promise<void> => {
    for (let each = left.pop(); each !== undefined; each = left.pop()) await work(each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

const isFault = ({ status, codes }: Awaited<ReturnType<typeof send>>) =>
  status >= 500 || codes.some((code) => code === undefined || code === 'INTERNAL_ERROR' || code === 'INTERNAL_SERVER_ERROR');

async function schemaOf(name: SubgraphName) {
  const { data } = await send(name, { query: getIntrospectionQuery() });
  return buildClientSchema(data as IntrospectionQuery);
}

describe.each(['users', 'orders', 'content'] as const)('the arguments of the subgraph %s', (name) => {
  it('never lead to INTERNAL_ERROR or a status of 500 and above', async () => {
    const cases = argumentCases(await schemaOf(name), ordinary);
    expect(cases.length).toBeGreaterThan(500);
    const faults: unknown[] = [];
    for (const [i, token] of Object.values(tokens).entries())
      await forEach(
        cases.filter((_, at) => at % ONE_IN === (i * 5) % ONE_IN),
        async (each) => {
          const reply = await sendCase(name, each, token);
          if (isFault(reply)) faults.push([each.about, Object.keys(tokens)[i], reply.status, reply.codes]);
        },
      );
    expect(faults).toEqual([]);
    const { codes } = await send(name, { query: '{ __typename }', token: tokens.ADMIN });
    expect(codes).toEqual([]);
  });

  it('answer VALIDATION_ERROR to manipulated cursors, or use them as a position', async () => {
    const schema = await schemaOf(name);
    const faults: unknown[] = [];
    for (const field of Object.values(schema.getQueryType()?.getFields() ?? {}).filter((each) => each.name.endsWith('Connection'))) {
      const required = field.args.flatMap((each) => (String(each.type).endsWith('!') ? [`${each.name}: "${ids['channel'] ?? ''}"`] : []));
      const order = field.args.find((each) => each.name === 'orderBy');
      const type = String(order?.type).replaceAll(/[[\]!]/g, '');
      const by = schema.getType(type.replace(/Order$/, 'OrderField'));
      const columns = by && 'getValues' in by ? by.getValues().map((each) => each.name) : [];
      for (const [i, column] of columns.entries()) {
        const at = (after?: string) => ({
          query: `query ($after: String) { ${field.name}(${[...required, `first: 1, after: $after, orderBy: [{ field: ${column}, direction: DESC }]`].join(', ')}) { edges { cursor } } }`,
          variables: { after },
          token: tokens.ADMIN,
        });
        const { data, codes } = await send(name, at());
        const cursor = (data as Record<string, { edges: { cursor: string }[] }> | undefined)?.[field.name]?.edges[0]?.cursor;
        if (cursor === undefined) throw new Error(`${field.name} has no first item by ${column}: ${codes.join()}`);
        await forEach(
          tamperedCursors(cursor).filter((_, n) => n % ONE_IN === i % ONE_IN),
          async (tampered) => {
            const reply = await send(name, at(tampered));
            if (isFault(reply)) faults.push([field.name, column, Buffer.from(tampered, 'base64url').toString().slice(0, 100), reply.codes]);
          },
        );
      }
    }
    expect(faults).toEqual([]);
  });
});
