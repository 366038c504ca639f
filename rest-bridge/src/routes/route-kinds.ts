/** The kinds of routes. Route tables are written with these functions (spec §4.1, §4.4). */
import { fail } from '@trestle/schema/errors';
import type { RouteResponse } from '../http/response.ts';
import type { ListRule } from '../query/list-parameters.ts';
import { toListResponse } from '../resources/list.ts';
import type { Representation } from '../resources/representation.ts';
import type { Resource } from '../resources/resource.ts';
import type { Alternative, LocalRoute, Method, OperationRoute } from './route.ts';

interface CommonOptions {
  readonly path: string;
  readonly operation: string;
  readonly resource: Resource;
  readonly summary: string;
  /** Default false: anonymous callers may use the route. */
  readonly needsCaller?: boolean;
  readonly spec: string;
}

/** Returns a `GET` of one resource: 200, or 404 when it does not exist (spec §7.3). */
export function getOne(options: CommonOptions & { readonly alternatives?: readonly Alternative[] }): OperationRoute {
  return {
    ...base('GET', options),
    ...(options.alternatives && { alternatives: options.alternatives }),
    input: { kind: 'path' },
    success: { status: 200, content: 'resource' },
    toResponse: (result, represent) => toResourceResponse(200, represent(result)),
  };
}

/** Returns a `GET` of a list in the envelope of its paging variant (spec §4.4). */
export function getList(options: CommonOptions & ListRule): OperationRoute {
  return {
    ...base('GET', options),
    input: { kind: 'list', rule: options },
    success: { status: 200, content: 'list' },
    toResponse: toListResponse,
  };
}

/** Returns a `GET` of the items of one resource, a short list without pages: `{data: […]}`. */
export function getItems(options: CommonOptions): OperationRoute {
  return {
    ...base('GET', options),
    input: { kind: 'path' },
    success: { status: 200, content: 'items' },
    toResponse: (result, represent) => ({ status: 200, body: { data: (result as unknown[]).map((item) => represent(item).body) } }),
  };
}

interface CreateOptions extends CommonOptions {
  /** The name of the GraphQL input type of the body. */
  readonly input: string;
  /** Returns the path of the new resource, without the version prefix. */
  readonly location: (body: Record<string, unknown>) => string;
  /** Input fields whose values come from the path, with the names of the segments. */
  readonly fromPath?: Readonly<Record<string, string>>;
  readonly idempotency?: 'required';
}

/** Returns a `POST` of a new resource: 201 with `Location` (spec §4.1). */
export function create({ location, ...options }: CreateOptions): OperationRoute {
  const { input, fromPath, resource, idempotency } = options;
  return {
    ...base('POST', options),
    ...(idempotency && { idempotency }),
    input: { kind: 'body', rule: { input, mode: 'create', resource, ...(fromPath && { fromPath }) } },
    success: { status: 201, content: 'resource' },
    toResponse: (result, represent, { prefix }) => {
      const created = represent(result);
      const path = location({ ...(result as object), ...created.body });
      return { ...toResourceResponse(201, created), headers: { location: `${prefix}${path}` } };
    },
  };
}

interface ReplaceOptions extends CommonOptions {
  readonly input: string;
  /** Fields that a replacement must contain. */
  readonly required: readonly string[];
  /** Fields that a replacement clears when it omits them, with their cleared values. */
  readonly cleared: Readonly<Record<string, unknown>>;
  readonly mayCreate?: boolean;
}

/** Returns a `PUT`, which replaces the whole resource: omitted fields are cleared, `required` ones must be present (spec §4.1). */
export function replace(options: ReplaceOptions): OperationRoute {
  const { input, resource, required, cleared, mayCreate = false } = options;
  return {
    ...base('PUT', options),
    mayCreate,
    conditionsOn: 'resource',
    input: { kind: 'body', rule: { input, mode: 'replace', resource, required, cleared } },
    success: { status: 200, content: 'resource' },
    toResponse: (result, represent, { prefix, path }) => {
      const replaced = represent(result);
      const isNew = mayCreate && replaced.version === 1;
      if (!isNew) return toResourceResponse(200, replaced);
      return { ...toResourceResponse(201, replaced), headers: { location: `${prefix}${path}` } };
    },
  };
}

/** Returns a `PATCH`, which changes the fields that the body contains; `null` clears a field (RFC 7396). */
export function merge(options: CommonOptions & { readonly input: string }): OperationRoute {
  const { input, resource } = options;
  return {
    ...base('PATCH', options),
    conditionsOn: 'resource',
    input: { kind: 'body', rule: { input, mode: 'merge', resource } },
    success: { status: 200, content: 'resource' },
    toResponse: (result, represent) => toResourceResponse(200, represent(result)),
  };
}

/** Returns a `DELETE`: 204 (spec §4.1). */
export function remove(options: CommonOptions): OperationRoute {
  return {
    ...base('DELETE', options),
    conditionsOn: 'resource',
    input: { kind: 'path' },
    success: { status: 204, content: 'none' },
    toResponse: () => ({ status: 204 }),
  };
}

/** Returns a `POST` of an action on the parent resource, without a body: 200 with the changed resource. */
export function act(options: CommonOptions): OperationRoute {
  return {
    ...base('POST', options),
    conditionsOn: 'parent',
    input: { kind: 'path' },
    success: { status: 200, content: 'resource' },
    toResponse: (result, represent) => toResourceResponse(200, represent(result)),
  };
}

interface NotImplementedOptions {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  /** Default true. */
  readonly needsCaller?: boolean;
  readonly spec: string;
}

/** Returns a route that answers 501, because its function does not exist yet. */
export function notImplemented({ needsCaller = true, ...options }: NotImplementedOptions): LocalRoute {
  return {
    ...options,
    needsCaller,
    types: ['application/json'],
    success: { status: 501, content: 'not implemented' },
    respond: () => {
      throw fail('NOT_IMPLEMENTED', 'This endpoint is not implemented yet.');
    },
  };
}

function base(method: Method, { path, operation, resource, summary, needsCaller = false, spec }: CommonOptions) {
  return { method, path, operation, resource, summary, needsCaller, spec };
}

function toResourceResponse(status: number, { body, version, changedAt }: Representation): RouteResponse {
  return { status, body, version, changedAt };
}
