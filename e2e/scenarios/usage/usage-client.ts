/** Requests about usage to a registry of a test. */
import type { TestRegistry } from '../registry/registry-client.ts';

/** Creates a token. */
export async function createToken(
  registry: TestRegistry,
  scopes: readonly string[],
  environments: readonly string[] | null = null,
): Promise<string> {
  const create = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }';
  const { data } = await registry.graphql<{ createToken: { secret: string } }>(create, { input: { name: 'test', scopes, environments } });
  return data?.createToken.secret ?? '';
}

/** What a check returns. */
export interface CheckOutcome {
  readonly id: string;
  readonly verdict: string;
  readonly usage: object | null;
  readonly changes: readonly {
    readonly coordinate: string;
    readonly level: string;
    readonly verdict: string;
    readonly isApproved: boolean;
    readonly affectedCount: number;
    readonly affected: readonly { readonly name: string | null; readonly lastSeen: string }[];
  }[];
}

const CHECK = `mutation ($input: CheckSubgraphsInput!) { checkSubgraphs(input: $input) { id verdict usage { days operations requests }
  changes { coordinate level verdict isApproved affectedCount affected { name requests percent lastSeen clients { name version requests percent } } } } }`;

/** Checks the subgraph `users` with another schema. */
export async function checkSubgraph(
  registry: TestRegistry,
  environment: string,
  proposed: string | { readonly sdl: string; readonly policy: object },
): Promise<CheckOutcome> {
  const { sdl, policy } = typeof proposed === 'string' ? { sdl: proposed, policy: undefined } : proposed;
  const input = { environment, subgraphs: [{ name: 'users', url: 'http://localhost/graphql', sdl }], policy };
  const { data, errors } = await registry.graphql<{ checkSubgraphs: CheckOutcome }>(CHECK, { input });
  if (!data) throw new Error(errors.map(({ message }) => message).join('; '));
  return data.checkSubgraphs;
}

/** What an environment has recorded. */
export interface Usage {
  readonly requests: number;
  readonly errors: number;
  readonly operations: readonly { readonly hash: string; readonly text: string | null; readonly requests: number }[];
  readonly clients: readonly { readonly id: string; readonly name: string | null; readonly requests: number }[];
}

/** Reads the usage of an environment. */
export async function readUsage(registry: TestRegistry, environment: string): Promise<Usage> {
  const query = `query ($name: String!) { environment(name: $name) { usage { requests errors
    operations { hash name text requests errors percent p50Ms p95Ms firstSeen lastSeen } clients { id name version requests } } } }`;
  const { data, errors } = await registry.graphql<{ environment: { usage: Usage } }>(query, { name: environment });
  if (!data) throw new Error(errors.map(({ message }) => message).join('; '));
  return data.environment.usage;
}
