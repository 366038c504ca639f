/** The jobs of the content subgraph, by its GraphQL endpoint. It verifies the caller's own token, and decides what the caller may see and do. */
import type { Fault } from '@trestle/schema/errors';
import { fail, isErrorCode } from '@trestle/schema/errors';
import { type IdempotencyKey, toIdempotencyHeaders } from '@trestle/chassis/request/idempotency-key';
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
  readonly expectedVersions: readonly number[] | null;
  /** Passed on, and marked when the result is that of an earlier request with the key. */
  readonly idempotency: IdempotencyKey | null;
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

interface ResponseError {
  readonly message: string;
  readonly extensions?: { readonly code?: unknown; readonly retryAfter?: unknown };
}

interface Response<Result> {
  readonly data?: { readonly result: Result } | null;
  readonly errors?: readonly ResponseError[];
}

/** Creates the client. `url` is the origin of the content subgraph; without one it has no jobs. */
export function createRemoteJobs(url: string | undefined): RemoteJobs {
  const send = async <Result>(body: GraphQLBody, authorization: string, idempotency: IdempotencyKey | null = null): Promise<Result> => {
    if (url === undefined) throw fail('SERVICE_UNAVAILABLE', 'The jobs of videos need the setting CONTENT_URL.');
    const { data, errors } = await post<Result>(new URL('/graphql', url), { body, authorization, idempotency });
    const [error] = errors ?? [];
    if (error) throw toFault(error);
    if (!data) throw fail('UPSTREAM_ERROR', 'A part of the system is unavailable. Retry later.');
    return data.result;
  };
  return {
    list: async (args, authorization) =>
      url === undefined ? [] : (await send<{ ids: string[] }>({ query: LIST, variables: args }, authorization)).ids,
    count: async (filter, authorization) =>
      url === undefined ? 0 : (await send<{ totalCount: number }>({ query: COUNT, variables: { filter } }, authorization)).totalCount,
    cancel: async ({ idempotency, ...variables }, authorization) => {
      await send({ query: CANCEL, variables }, authorization, idempotency);
    },
    retry: async ({ idempotency, ...variables }, authorization) => {
      await send({ query: RETRY, variables }, authorization, idempotency);
    },
  };
}

interface GraphQLBody {
  readonly query: string;
  readonly variables: object;
}

interface Post {
  readonly body: GraphQLBody;
  readonly authorization: string;
  readonly idempotency: IdempotencyKey | null;
}

async function post<Result>(url: URL, { body, authorization, idempotency }: Post): Promise<Response<Result>> {
  try {
    const headers = { 'content-type': 'application/json', authorization, ...toIdempotencyHeaders(idempotency) };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal, redirect: 'error' });
    if (idempotency && response.headers.get('idempotent-replayed') === 'true') idempotency.replayed = true;
    return (await response.json()) as Response<Result>;
  } catch (cause) {
    throw fail('UPSTREAM_ERROR', 'A part of the system is unavailable. Retry later.', { cause });
  }
}

function toFault({ message, extensions: { code, retryAfter } = {} }: ResponseError): Fault {
  const options = typeof retryAfter === 'number' ? { retryAfterSeconds: retryAfter } : {};
  return isErrorCode(code) ? fail(code, message, options) : fail('UPSTREAM_ERROR', 'A part of the system is unavailable. Retry later.');
}
