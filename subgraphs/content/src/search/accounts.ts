/** Reads what is public of accounts from the users subgraph, as an anonymous caller: this subgraph never sees an e-mail address. */
import { fail } from '@trestle/schema/errors';

/** What is searched of an account. */
export interface PublicAccount {
  readonly id: string;
  readonly name: string;
  readonly bio: string | null;
  readonly createdAt: string;
}

/** A page of accounts; `next` is the cursor of the next page, if any. */
export interface AccountPage {
  readonly accounts: readonly PublicAccount[];
  readonly next: string | undefined;
}

/** Reads active accounts. Both functions throw UPSTREAM_ERROR when the users subgraph does not respond as it should. */
export interface Accounts {
  /** Returns those of the ids that are active accounts. */
  readonly findActive: (ids: readonly string[]) => Promise<readonly PublicAccount[]>;
  /** Returns a page of all active accounts, in the order of their ids. */
  readonly listActive: (after: string | undefined) => Promise<AccountPage>;
}

const TIMEOUT_MS = 3000;
/** A page of accounts with the longest bios is smaller. */
const MAX_BYTES = 8 * 1024 * 1024;
const PAGE = 100;

const FIND = 'query ($ids: [_Any!]!) { _entities(representations: $ids) { ... on User { id name bio isActive createdAt } } }';
const LIST = `query ($after: String) { usersConnection(first: ${String(PAGE)}, after: $after, filter: { isActive: true }, orderBy: { field: ID }) {
  pageInfo { hasNextPage endCursor } edges { node { id name bio createdAt } } } }`;

interface Listed {
  readonly usersConnection: {
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    readonly edges: readonly { readonly node: PublicAccount }[];
  };
}

const NONE: Accounts = { findActive: () => Promise.resolve([]), listActive: () => Promise.resolve({ accounts: [], next: undefined }) };

/** Creates the reader; `url` is the GraphQL address of the users subgraph. Without it no account is found. */
export function createAccounts({ url }: { readonly url: string | undefined }): Accounts {
  if (url === undefined) return NONE;
  return {
    async findActive(ids) {
      if (ids.length === 0) return [];
      const representations = ids.map((id) => ({ __typename: 'User', id }));
      const data = await ask<{ _entities: readonly ((PublicAccount & { isActive: boolean }) | null)[] }>(url, FIND, {
        ids: representations,
      });
      return data._entities.filter((account) => account?.isActive === true).map((account) => toAccount(account as PublicAccount));
    },
    async listActive(after) {
      const { edges, pageInfo } = (await ask<Listed>(url, LIST, { after })).usersConnection;
      return {
        accounts: edges.map(({ node }) => toAccount(node)),
        next: pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined,
      };
    },
  };
}

function toAccount({ id, name, bio, createdAt }: PublicAccount): PublicAccount {
  return { id, name, bio, createdAt };
}

async function ask<Data>(url: string, query: string, variables: Readonly<Record<string, unknown>>): Promise<Data> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { data, errors } = JSON.parse(await readText(response)) as { data?: Data | null; errors?: readonly { message: string }[] };
    if (errors || !data) throw new Error(errors?.[0]?.message ?? `status ${String(response.status)}`);
    return data;
  } catch (cause) {
    throw fail('UPSTREAM_ERROR', 'The users subgraph cannot be read.', { cause });
  }
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`more than ${String(MAX_BYTES)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
