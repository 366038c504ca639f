/** Routes of API keys (spec §5.2, contract §3). */
import type { Represent, RepresentationContext } from '../resources/representation.ts';
import { API_KEY } from '../resources/resources.ts';
import type { RouteResponse } from '../http/response.ts';
import { getList, getOne, merge, remove } from './route-kinds.ts';
import type { OperationRoute, Route } from './route.ts';

const needsCaller = true;
const resource = API_KEY;
const spec = '§5.2';

/** The result of the operations that make a key. */
interface CreatedKey {
  readonly secret: string;
  readonly apiKey: unknown;
  /** The id, also when `fields` does not name it. */
  readonly created: { readonly id: string };
}

interface CreatingOptions extends Pick<OperationRoute, 'path' | 'operation' | 'summary' | 'conditionsOn'> {
  /** The name of the GraphQL input type of the body. */
  readonly input: string;
}

/** Returns a `POST` that makes a key: 201 with the key and its secret, which no later response contains. */
function creating({ input, ...options }: CreatingOptions): OperationRoute {
  return {
    ...options,
    method: 'POST',
    resource,
    needsCaller,
    spec,
    // The secret must not be stored, not even for a retry.
    idempotency: 'ignored',
    input: { kind: 'body', rule: { input, mode: 'create', resource } },
    success: { status: 201, content: 'secret' },
    toResponse,
  };
}

function toResponse(result: unknown, represent: Represent, { prefix }: RepresentationContext): RouteResponse {
  const { secret, apiKey, created } = result as CreatedKey;
  const { body, version, changedAt } = represent(apiKey);
  return { status: 201, body: { secret, apiKey: body }, version, changedAt, headers: { location: `${prefix}/api-keys/${created.id}` } };
}

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
  creating({
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
  creating({
    path: '/api-keys/{id}/rotations',
    operation: 'RotateApiKey',
    summary: 'Replaces an API key by a new one, and shows its secret once',
    input: 'RotateApiKeyInput',
    conditionsOn: 'parent',
  }),
];
