/** The kinds of routes. Route tables are written with these functions (spec §4.1, §4.4). */
import type { RouteResponse } from '../http/response.ts';
import type { ListRule } from '../query/list-parameters.ts';
import { wholeListPaging } from '../query/paging.ts';
import type { ReaderContext, RequestReader } from '../query/request-reader.ts';
import { toListResponse, toWholeListResponse } from '../resources/list.ts';
import type { Representation } from '../resources/representation.ts';
import { NEED_PREFIX, type Resource } from '../resources/resource.ts';
import { acceptedJob } from '../resources/event-resources.ts';
import type { Alternative, Method, OperationRoute, RouteInput } from './route.ts';

/** What every route has. */
export interface CommonOptions {
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

/** Returns a `GET` of the items of one resource, a short list that is sent as one page (spec §4.4). */
export function getItems(options: CommonOptions): OperationRoute {
  return {
    ...base('GET', options),
    input: { kind: 'custom', hasBody: false, createReader: createWholeListReader },
    success: { status: 200, content: 'items' },
    toResponse: toWholeListResponse,
  };
}

function createWholeListReader({ version }: ReaderContext): RequestReader {
  const paging = wholeListPaging(version);
  return ({ params }) => ({ variables: params, paging });
}

/** What routes that create have. */
export interface CreateOptions extends CommonOptions {
  /** The name of the GraphQL input type of the body. */
  readonly input: string;
  /** Returns the path of the new resource, without the version prefix. */
  readonly location: (body: Record<string, unknown>) => string;
  /** Input fields whose values come from the path, with the names of the segments. */
  readonly fromPath?: Readonly<Record<string, string>>;
  readonly idempotency?: 'required';
  readonly accountField?: string;
  /** Whether the path has no list, to which conditions could apply. */
  readonly isUnlisted?: boolean;
}

/** Returns a `POST` of a new resource: 201 with `Location` (spec §4.1). */
export function create({ location, ...options }: CreateOptions): OperationRoute {
  const { input, fromPath, resource, idempotency, accountField, isUnlisted = false } = options;
  return {
    ...base('POST', { ...options, resource: withId(resource) }),
    ...(idempotency && { idempotency }),
    ...(accountField !== undefined && { accountField }),
    ...(!isUnlisted && { conditionsOn: 'collection' }),
    input: { kind: 'body', rule: { input, mode: 'create', resource, ...(fromPath && { fromPath }) } },
    success: { status: 201, content: 'resource' },
    toResponse: (result, represent, { prefix }) => {
      return toCreated(represent(result), `${prefix}${location({ ...(result as object), id: idOf(result) })}`);
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

interface SecretOptions extends CommonOptions {
  /** The name of the GraphQL input type of the body. */
  readonly input: string;
  /** The member of the response that contains the resource, beside its secret. */
  readonly member: string;
  /** The path of the resources, without the version prefix. */
  readonly collection: string;
  readonly conditionsOn?: 'parent' | 'collection';
}

/** The result of the operations that make a secret. */
interface ResultWithSecret {
  readonly secret: string;
  /** The id, also when `fields` does not name it. */
  readonly created: { readonly id: string };
}

/**
 * Returns a `POST` that makes a secret: 201 with the resource and the secret, which no later response contains. It must not be stored, not
 * even for a retry: a repeated `Idempotency-Key` is 409.
 */
export function createWithSecret({ input, member, collection, conditionsOn = 'collection', ...options }: SecretOptions): OperationRoute {
  return {
    ...base('POST', options),
    conditionsOn,
    input: { kind: 'body', rule: { input, mode: 'create', resource: options.resource } },
    success: { status: 201, content: 'secret', member },
    toResponse: (result, represent, { prefix }) => {
      const { secret, created } = result as ResultWithSecret;
      const { body, version, changedAt } = represent((result as Readonly<Record<string, unknown>>)[member]);
      const headers = { location: `${prefix}${collection}/${created.id}` };
      return { status: 201, body: { secret, [member]: body }, version, changedAt, headers };
    },
  };
}

interface AcceptOptions extends Omit<CommonOptions, 'resource'> {
  /** The GraphQL type of the job. */
  readonly jobType: string;
  readonly input: RouteInput;
  readonly isOfSession?: boolean;
  readonly conditionsOn?: 'parent';
}

/** Returns a `POST` whose work goes on as a job: 202 with `Location` (spec §4.1, contract §4). */
export function accept({ jobType, input, isOfSession, conditionsOn, ...options }: AcceptOptions): OperationRoute {
  return {
    ...base('POST', { ...options, resource: withId(acceptedJob(jobType)) }),
    ...(isOfSession && { isOfSession }),
    ...(conditionsOn && { conditionsOn }),
    input,
    success: { status: 202, content: 'resource' },
    toResponse: (result, represent, { prefix }) => {
      const { body } = represent(result);
      return { status: 202, body, headers: { location: `${prefix}/jobs/${idOf(result)}` } };
    },
  };
}

/** Returns what every route has. */
export function base(method: Method, { path, operation, resource, summary, needsCaller = false, spec }: CommonOptions) {
  return { method, path, operation, resource, summary, needsCaller, spec };
}

/** Returns the resource with its id selected whatever `fields` names, for `Location`. */
export function withId(resource: Resource): Resource {
  return { ...resource, needs: resource.needs ?? 'id' };
}

/** Returns the id of a result, which `withId` selects. */
export function idOf(result: unknown): string {
  return String((result as Readonly<Record<string, unknown>>)[`${NEED_PREFIX}id`]);
}

/** Returns 201 with the path of the new resource. */
export function toCreated(created: Representation, location: string): RouteResponse {
  return { ...toResourceResponse(201, created), headers: { location } };
}

function toResourceResponse(status: number, { body, version, changedAt }: Representation): RouteResponse {
  return { status, body, version, changedAt };
}
