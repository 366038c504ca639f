/**
 * The REST API as typed calls, made from its OpenAPI document. What does not fit the document does not compile:
 *
 *     const api = createTrestleClient({ baseUrl: 'http://localhost:3000', token });
 *     const { data, error } = await api.GET('/users/{id}', { params: { path: { id } } });
 */
import createClient, { type Client } from 'openapi-fetch';
import type { paths as PathsOfV1 } from './generated/v1.ts';
import type { paths as PathsOfV2 } from './generated/v2.ts';

export interface ClientOptions {
  /** The bridge's address, without a path. */
  readonly baseUrl: string;
  /** An access token, or what gives the current one; without it the caller is anonymous. */
  readonly token?: string | (() => string | undefined);
  /** In place of the platform's own. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Calls version 1. Failures are given as `error` in the envelope of spec §7.1, and thrown only when nobody answered. */
export function createTrestleClient(options: ClientOptions): Client<PathsOfV1> {
  return createVersion<PathsOfV1>('v1', options);
}

/** Calls version 2: lists are paged by cursor, and money is `{amount, currency}`. */
export function createTrestleClientV2(options: ClientOptions): Client<PathsOfV2> {
  return createVersion<PathsOfV2>('v2', options);
}

function createVersion<Paths extends object>(version: string, { baseUrl, token, fetch }: ClientOptions): Client<Paths> {
  const client = createClient<Paths>({
    baseUrl: `${baseUrl.replace(/(?<!\/)\/+$/, '')}/${version}`,
    // Lists of names go as one parameter: `sort=-createdAt,id`.
    querySerializer: { array: { style: 'form', explode: false } },
    ...(fetch && { fetch }),
  });
  client.use({
    onRequest({ request }) {
      const current = typeof token === 'function' ? token() : token;
      if (current !== undefined) request.headers.set('authorization', `Bearer ${current}`);
      return request;
    },
  });
  return client;
}
