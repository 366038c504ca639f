/** Changes of contracts by the registry's API, and the subgraphs that the scenarios publish. */
import type { TestRegistry } from '../registry/registry-client.ts';

const HEAD = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@tag"])';

/** Users, with a key that no contract shows, and fields for clients of all kinds. */
export const USERS = `${HEAD}
type Query { user: User @tag(name: "public") @tag(name: "partner") audit: String @tag(name: "internal") }
type User @key(fields: "id") { id: ID! name: String @tag(name: "public") @tag(name: "partner") note: String @tag(name: "internal") }`;

/** Orders, which partners see. */
export const ORDERS = `${HEAD}
type User @key(fields: "id") { id: ID! orders: [Order] @tag(name: "partner") }
type Order @tag(name: "partner") { total: Int cost: Int @tag(name: "internal") }`;

/** A release, and what its contracts are. */
export interface Release {
  readonly number: number;
  readonly action: string;
  readonly launch: { readonly id: string };
  readonly canary: { readonly launch: { readonly id: string } } | null;
  readonly contracts: readonly Contract[];
}

/** A contract as a release serves it. */
export interface Contract {
  readonly name: string;
  readonly version: number;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly removeUnreachableTypes: boolean;
  readonly apiSdl: string;
}

/** What a change of a contract returns. */
export interface ContractResult {
  readonly contract: Contract | null;
  readonly release: { readonly number: number } | null;
  readonly isUnchanged: boolean;
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

const CONTRACT = '{ name version include exclude removeUnreachableTypes apiSdl }';
const RELEASE = `{ number action launch { id } canary { launch { id } } contracts ${CONTRACT} }`;
const RESULT = `{ contract ${CONTRACT} release { number } isUnchanged problems { code message } }`;

interface Mutation {
  readonly field: string;
  readonly type: string;
  readonly result: string;
}

/** The changes of an environment. */
export function createChanges(registry: TestRegistry) {
  /** Runs one mutation whose argument is `input`. Rejects with code and message when it is refused. */
  const run =
    <Result>({ field, type, result }: Mutation) =>
    async (input: object, token = registry.token): Promise<Result> => {
      const query = `mutation ($input: ${type}!) { result: ${field}(input: $input) ${result} }`;
      const { data, errors } = await registry.graphql<{ result: Result }>(query, { input }, token);
      if (!data) throw new Error(errors.map(({ message, extensions }) => `${extensions.code} ${message}`).join('; '));
      return data.result;
    };
  const createToken = run<{ readonly secret: string }>({ field: 'createToken', type: 'CreateTokenInput', result: '{ secret }' });
  return {
    create: run<ContractResult>({ field: 'createContract', type: 'ContractInput', result: RESULT }),
    update: run<ContractResult>({ field: 'updateContract', type: 'ContractInput', result: RESULT }),
    remove: run<Release>({ field: 'deleteContract', type: 'DeleteContractInput', result: RELEASE }),
    rollback: run<Release>({ field: 'rollback', type: 'RollbackInput', result: RELEASE }),
    promote: run<Release>({ field: 'promote', type: 'PromoteInput', result: RELEASE }),
    createToken: async (input: object) => (await createToken(input)).secret,
    /** Returns the current release. */
    read: async (name: string) => {
      const query = `query ($name: String!) { environment(name: $name) { release ${RELEASE} } }`;
      const { data } = await registry.graphql<{ environment: { release: Release } | null }>(query, { name });
      return data?.environment?.release;
    },
  };
}
