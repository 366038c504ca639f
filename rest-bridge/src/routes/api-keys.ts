/** Routes of API keys (spec §5.2, contract §3). */
import { API_KEY } from '../resources/identity-resources.ts';
import { createWithSecret, getList, getOne, merge, remove } from './route-kinds.ts';
import type { Route } from './route.ts';

const needsCaller = true;
const resource = API_KEY;
const spec = '§5.2';

const secret = { resource, needsCaller, spec, member: 'apiKey', collection: '/api-keys' } as const;

/** The routes under `/api-keys`. */
export const apiKeyRoutes: readonly Route[] = [
  getList({
    path: '/api-keys',
    operation: 'ListApiKeys',
    resource,
    summary: 'Lists the API keys of the caller; administrators may name another account',
    needsCaller,
    filter: 'ApiKeyFilter',
    order: 'ApiKeyOrderField',
    spec,
  }),
  createWithSecret({
    ...secret,
    path: '/api-keys',
    operation: 'CreateApiKey',
    summary: 'Creates an API key of the caller, and shows its secret once',
    input: 'CreateApiKeyInput',
  }),
  getOne({ path: '/api-keys/{id}', operation: 'GetApiKey', resource, summary: 'Returns an API key', needsCaller, spec }),
  merge({
    path: '/api-keys/{id}',
    operation: 'UpdateApiKey',
    resource,
    summary: 'Changes the name of an API key, or whether it is allowed in a URL',
    needsCaller,
    input: 'UpdateApiKeyInput',
    spec,
  }),
  remove({ path: '/api-keys/{id}', operation: 'RevokeApiKey', resource, summary: 'Revokes an API key at once', needsCaller, spec }),
  createWithSecret({
    ...secret,
    path: '/api-keys/{id}/rotations',
    operation: 'RotateApiKey',
    summary: 'Replaces an API key by a new one, and shows its secret once',
    input: 'RotateApiKeyInput',
    conditionsOn: 'parent',
  }),
];
