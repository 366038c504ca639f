/** The jobs of the content subgraph, by its GraphQL endpoint. It verifies the caller's own token, and decides what the caller may see and do. */
import type { Fault } from '@trestle/schema/errors';
import { fail, isErrorCode } from '@trestle/schema/errors';
import type { JobFilter } from '../generated/resolvers.ts';

/** The arguments that select a page of jobs. */
export interface RemotePageArguments {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly offset?: number | null;
  readonly filter?: JobFilter | null;
}

/** A request for a change. */
export interface RemoteChange {
  readonly id: string;
  readonly expectedVersions?: readonly number[] | null;
}

/** Reads and changes jobs of another subgraph. Each method rejects with the fault of the subgraph, or with UPSTREAM_ERROR. */
export interface RemoteJobs {
  /** Returns the ids of the skipped jobs and of the page, and of one more. */
  list(args: RemotePageArguments, authorization: string): Promise<readonly string[]>;
  count(filter: JobFilter | null, authorization: string): Promise<number>;
  cancel(change: RemoteChange, authorization: string): Promise<void>;
  retry(change: RemoteChange, authorization: string): Promise<void>;
}

const TIMEOUT_MS = 5000;
const LIST = `query ($first: Int, $after: String, $last: Int, $before: String, $offset: Int, $filter: JobFilter) {
  result: contentJobs(first: $first, after: $after, last: $last, before: $before, offset: $offset, filter: $filter) { ids } }`;
const COUNT = `query ($filter: JobFilter) { result: contentJobs(first: 1, filter: $filter) { totalCount } }`;
const CANCEL = `mutation ($id: ID!, $expectedVersions: [Int!]) { result: cancelContentJob(id: $id, expectedVersions: $expectedVersions) }`;
const RETRY = `mutation ($id: ID!, $expectedVersions: [Int!]) { result: retryContentJob(id: $id, expectedVersions: $expectedVersions) }`;

interface Response<Result> {
  readonly data?: { readonly result: Result } | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: unknown } }[];
}

/** Creates the client. `url` is the origin of the content subgraph; without one it has no jobs. */
export function createRemoteJobs(url: string | undefined): RemoteJobs {
  const send = async <Result>(query: string, variables: object, authorization: string): Promise<Result> => {
    if (url === undefined) throw fail('SERVICE_UNAVAILABLE', 'The jobs of videos need the setting CONTENT_URL.');
    const response = await post(new URL('/graphql', url), { body: { query, variables }, authorization });
    const { data, errors } = response as Response<Result>;
    const [error] = errors ?? [];
    if (error) throw toFault(error);
    if (!data) throw fail('UPSTREAM_ERROR', 'A part of the system is unavailable. Retry later.');
    return data.result;
  };
  return {
    list: async (args, authorization) => (url === undefined ? [] : (await send<{ ids: string[] }>(LIST, args, authorization)).ids),
    count: async (filter, authorization) =>
      url === undefined ? 0 : (await send<{ totalCount: number }>(COUNT, { filter }, authorization)).totalCount,
    cancel: async (change, authorization) => {
      await send(CANCEL, change, authorization);
    },
    retry: async (change, authorization) => {
      await send(RETRY, change, authorization);
    },
  };
}

async function post(url: URL, { body, authorization }: { readonly body: object; readonly authorization: string }): Promise<unknown> {
  try {
    const headers = { 'content-type': 'application/json', authorization };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal, redirect: 'error' });
    return await response.json();
  } catch (cause) {
    throw fail('UPSTREAM_ERROR', 'A part of the system is unavailable. Retry later.', { cause });
  }
}

function toFault({ message, extensions }: { readonly message: string; readonly extensions?: { readonly code?: unknown } }): Fault {
  const code = extensions?.code;
  return isErrorCode(code) ? fail(code, message) : fail('UPSTREAM_ERROR', 'A part of the system is unavailable. Retry later.');
}
