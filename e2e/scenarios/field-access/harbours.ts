/** A graph with `@authenticated`, `@requiresScopes` and `@policy`, callers of it, and the settings of a gateway that knows them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';

const HARBOUR = { __typename: 'Harbour', code: 'HAM', name: 'Hamburg', depth: 12.5, keeper: { name: 'Ada' }, crane: 'idle' };
const YARD = { __typename: 'Yard', name: 'Yard', workers: 7 };
const BERTH = { berths: () => 4, fee: () => 100, __resolveReference: (key: object) => key };

async function* twoTicks() {
  await Promise.resolve();
  yield { ticked: HARBOUR };
  yield { ticked: HARBOUR };
}

/** `places` owns harbours, `berths` extends them. */
export const subgraphs = {
  places: {
    sdl: `type Query { harbours: [Harbour!]  harbour: Harbour! @authenticated  sites: [Site!]  log: [String!] @policy(policies: [["keepers", "staff"], ["inspectors"]]) }
      type Mutation { rename(name: String!): Harbour  close: Boolean @requiresScopes(scopes: [["posts:write"]]) }
      type Subscription { ticked: Harbour  closed: Harbour @authenticated }
      type Harbour implements Place @key(fields: "code") { code: ID!  name: String!  depth: Depth  keeper: Keeper
        crane: String @requiresScopes(scopes: [["cranes:operate"]]) }
      type Yard implements Place { name: String!  workers: Int @requiresScopes(scopes: [["orders:read"]]) }
      type Keeper @requiresScopes(scopes: [["users:read", "messages:read"], ["account:manage"]]) { name: String! }
      interface Place { name: String! }
      union Site = Harbour | Yard
      scalar Depth @authenticated`,
    resolvers: {
      Query: { harbours: () => [HARBOUR], harbour: () => HARBOUR, sites: () => [HARBOUR, YARD], log: () => ['open'] },
      Mutation: { rename: () => HARBOUR, close: () => true },
      Subscription: { ticked: { subscribe: twoTicks }, closed: { subscribe: twoTicks } },
      Harbour: { __resolveReference: () => HARBOUR },
      Site: { __resolveType: ({ __typename }: { __typename: string }) => __typename },
    },
  },
  berths: {
    sdl: `type Harbour @key(fields: "code") { code: ID!  berths: Int!  fee(ship: String): Int @requiresScopes(scopes: [["payments:read"]]) }`,
    resolvers: { Harbour: BERTH },
  },
};

const { privateKeyPem, publicKeyPem } = generateTokenKeys();
const issuer = createTokenIssuer({ privateKeyPem });
const account = { id: 'usr_1', tokenGeneration: 0, plan: 'free', requestsPerMinute: null, sessionId: 'ses_1' } as const;
/** Returns an access token of an account with these scopes. */
export const tokenOf = (scopes: readonly string[], role: 'USER' | 'ADMIN' = 'USER') =>
  issuer.issue({ ...account, role, scopes: new Set(scopes) }).token;
/** The token of an account without scopes. */
export const PERSON = tokenOf([]);

/** A folder with the key and the policies, and the settings that name them. */
export interface AccessSettings {
  readonly home: string;
  readonly env: Record<string, string>;
  remove(): Promise<void>;
}

/** Writes the key and the policies. */
export async function writeAccessSettings(): Promise<AccessSettings> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-access-'));
  const [keyFile, policies] = [join(home, 'key.pem'), join(home, 'policies.json')];
  await writeFile(keyFile, publicKeyPem);
  await writeFile(policies, JSON.stringify({ keepers: [{ role: 'ADMIN' }, { scopes: ['posts:read'] }], staff: [{}] }));
  const env = { TOKEN_PUBLIC_KEY_FILE: keyFile, POLICIES_FILE: policies };
  return { home, env, remove: () => rm(home, { recursive: true, force: true }) };
}
