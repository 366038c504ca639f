/** Requests that create API keys, and requests with them. */
import { expect } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import type { Account, Stack } from '../../stack/stack.ts';

/** An API key, as REST shows it. */
export interface Key {
  readonly id: string;
  readonly name: string;
  readonly lastFour: string;
  readonly scopes: readonly string[];
  readonly successorId: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

const withKey = (key: string) => ({ headers: { 'x-api-key': key } });

/** Returns the requests to a stack, which `find` returns for each. */
export function toKeyRequests(find: () => Stack) {
  return {
    withKey,
    create: async (account: Account, input: object = {}) => {
      const reply = await find().call('POST', '/v1/api-keys', { token: account.token, body: { name: 'Export', ...input } });
      expect(reply.status).toBe(201);
      const { secret, apiKey } = reply.body as { secret: string; apiKey: Key };
      return { secret, apiKey, reply, path: `/v1/api-keys/${apiKey.id}` };
    },
    /** Resolves with the status of a request to a bridge. */
    asks: async (key: string, url = find().rest) => (await request(`${url}/v1/orders`, { method: 'GET', ...withKey(key) })).status,
    /** Resolves with the id of the caller at a gateway. */
    asksGateway: async (key: string, url = find().gateway) => {
      const { body } = await request(`${url}/graphql`, { method: 'POST', body: { query: '{ me { id } }' }, ...withKey(key) });
      return (body as { data?: { me: { id: string } | null } }).data?.me?.id;
    },
  };
}
