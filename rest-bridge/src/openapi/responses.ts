/** The responses of a route: its success and every possible error. No I/O. */
import { STATUS_CODES } from 'node:http';
import { ERRORS, type ErrorCode } from '@trestle/schema/errors';
import { EVENT_STREAM_TYPE } from '../http/media-types.ts';
import { type Route, hasBody } from '../routes/route.ts';
import { type Components, exampleOf } from './examples.ts';
import type { JsonSchema } from './schemas.ts';

const reference = (kind: string, name: string): JsonSchema => ({ $ref: `#/components/${kind}/${name}` });
const string: JsonSchema = { type: 'string' };

/** The response headers in `components.headers`. */
export const SHARED_HEADERS: Readonly<Record<string, JsonSchema>> = {
  RequestId: { description: 'The id of the request.', schema: { type: 'string', format: 'uuid' } },
  ApiVersion: { description: 'The API version of the response.', schema: string },
  Deprecation: { description: '`true` after the API version was deprecated.', schema: string },
  Sunset: { description: 'When the deprecated API version is retired.', schema: string },
  Link: { description: 'Other pages of a list, and the successor of a deprecated API version (RFC 8288).', schema: string },
  CacheControl: { description: 'Who may store the response. A response to a request with a credential is never public.', schema: string },
  Vary: { description: 'The request headers that the response depends on.', schema: string },
  ETag: { description: 'A strong entity tag, made from the version of the resource and the content.', schema: string },
  LastModified: {
    description: 'When the resource last changed. Absent when the representation also shows other resources.',
    schema: string,
  },
  Location: { description: 'The path of the resource.', schema: string },
  Replayed: { description: '`true` for the stored response of an earlier request with the same `Idempotency-Key`.', schema: string },
  Allow: { description: 'The methods that the path allows.', schema: string },
  RetryAfter: { description: 'The number of seconds to wait before a retry.', schema: { type: 'integer' } },
  Authenticate: {
    description:
      'The authentication scheme. `error="invalid_token"` when the credential is invalid, `error="insufficient_scope"` and `scope` on 403 ' +
      'when it lacks scopes.',
    schema: string,
  },
  ContentRange: { description: 'The byte range of the content.', schema: string },
  RateLimitLimit: { description: 'Requests per minute of the caller.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Requests that are left in the sliding window of a minute.', schema: { type: 'integer' } },
  RateLimitReset: {
    description: 'When the number of remaining requests grows next, as Unix time in seconds.',
    schema: { type: 'integer' },
  },
  RateLimit: {
    description: 'The remaining requests and the seconds until there are more (draft-ietf-httpapi-ratelimit-headers).',
    schema: string,
  },
  RateLimitPolicy: { description: 'The limit and its window in seconds (draft-ietf-httpapi-ratelimit-headers).', schema: string },
  AcceptRanges: { description: '`bytes`: the unit of `Range`.', schema: string },
  ContentDisposition: { description: 'The name of the file (RFC 6266).', schema: string },
  SetCookie: { description: 'The refresh cookie, when the request sets or removes it.', schema: string },
  ServerTiming: { description: 'The time spent in each subgraph, for administrators only.', schema: string },
  AcceptedTypes: { description: 'The media types that the body of a request may have.', schema: string },
  AcceptedCoding: { description: '`identity`, when the body of the request has another content coding.', schema: string },
};

const EVERY = {
  'X-Request-ID': 'RequestId',
  'API-Version': 'ApiVersion',
  'Cache-Control': 'CacheControl',
  Vary: 'Vary',
  Deprecation: 'Deprecation',
  Sunset: 'Sunset',
  Link: 'Link',
  'X-RateLimit-Limit': 'RateLimitLimit',
  'X-RateLimit-Remaining': 'RateLimitRemaining',
  'X-RateLimit-Reset': 'RateLimitReset',
  RateLimit: 'RateLimit',
  'RateLimit-Policy': 'RateLimitPolicy',
};

/** Returns the headers of a response: those of every response, and `more`, by the names of their components. */
export function toHeaders(more: Readonly<Record<string, string>> = {}): JsonSchema {
  return Object.fromEntries(Object.entries({ ...EVERY, ...more }).map(([name, shared]) => [name, reference('headers', shared)]));
}

const OWN_HEADERS: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  UNAUTHORIZED: { 'WWW-Authenticate': 'Authenticate' },
  FORBIDDEN: { 'WWW-Authenticate': 'Authenticate' },
  METHOD_NOT_ALLOWED: { Allow: 'Allow' },
  RANGE_NOT_SATISFIABLE: { 'Content-Range': 'ContentRange' },
  SERVICE_UNAVAILABLE: { 'Retry-After': 'RetryAfter' },
  RATE_LIMIT_EXCEEDED: { 'Retry-After': 'RetryAfter' },
  CONFLICT: { 'Retry-After': 'RetryAfter' },
  UNSUPPORTED_MEDIA_TYPE: {
    Accept: 'AcceptedTypes',
    'Accept-Patch': 'AcceptedTypes',
    'Accept-Post': 'AcceptedTypes',
    'Accept-Encoding': 'AcceptedCoding',
  },
};

/** Returns one response for each error code, as an envelope and as problem details. */
export function toErrorResponses(): Record<string, JsonSchema> {
  const [requestId, details] = ['3f2b7a80-52b4-4f0e-9d7b-0c7a4a5b9f11', [{ field: 'limit', message: 'must be an integer from 1 to 100' }]];
  return Object.fromEntries(
    Object.entries(ERRORS).map(([code, { status, meaning }]) => {
      const own = { message: meaning, ...(code === 'VALIDATION_ERROR' && { details }), requestId };
      const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail: meaning, code, requestId };
      return [
        code,
        {
          description: meaning,
          headers: toHeaders(OWN_HEADERS[code as ErrorCode]),
          content: {
            'application/json': { schema: reference('schemas', 'Error'), example: { error: { code, ...own } } },
            'application/problem+json': { schema: reference('schemas', 'Problem'), example: problem },
          },
        },
      ];
    }),
  );
}

/** Returns the error codes that a route can answer. */
export function errorsOf(route: Route): ErrorCode[] {
  const always: ErrorCode[] = [
    'VALIDATION_ERROR',
    'UNAUTHORIZED',
    'NOT_FOUND',
    'NOT_ACCEPTABLE',
    'REQUEST_TIMEOUT',
    'GONE',
    'URI_TOO_LONG',
    'RATE_LIMIT_EXCEEDED',
  ];
  const internal: ErrorCode[] = ['REQUEST_HEADER_FIELDS_TOO_LARGE', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];
  const isOperation = 'operation' in route;
  const isWrite = route.method !== 'GET';
  return [
    ...always,
    ...(isOperation ? (['FORBIDDEN', 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'] as const) : []),
    ...(route.success.status === 200 || (isOperation && route.conditionsOn) || route.checkHeaders
      ? (['PRECONDITION_FAILED'] as const)
      : []),
    ...(route.method === 'GET' && route.success.status === 200 ? (['RANGE_NOT_SATISFIABLE'] as const) : []),
    ...(isOperation && isWrite ? (['CONFLICT', 'BUSINESS_RULE_VIOLATION'] as const) : []),
    ...(isOperation && hasBody(route) ? (['UNSUPPORTED_MEDIA_TYPE', 'PAYLOAD_TOO_LARGE'] as const) : []),
    ...internal,
  ];
}

/** Returns the responses of a route by status; errors as references. */
export function toResponses(route: Route, components: Components, schema: JsonSchema | undefined): Record<string, JsonSchema> {
  const { status } = route.success;
  const errors = errorsOf(route).map((name): [string, JsonSchema] => [String(ERRORS[name].status), reference('responses', name)]);
  const isRead = route.method === 'GET' && status === 200;
  const success = [String(status), toSuccess(route, components, { schema: status === 307 ? undefined : schema })] as const;
  // Most clients follow redirects and return the response of the target.
  const followed =
    status === 307
      ? [
          [
            '200',
            toSuccess(route, components, { schema, status: 200, description: 'The target of the redirect, for clients that follow it.' }),
          ] as const,
        ]
      : [];
  return Object.fromEntries([
    success,
    ...followed,
    ...('operation' in route && route.mayCreate ? [['201', toSuccess(route, components, { schema, status: 201 })] as const] : []),
    ...(isRead ? [['206', toPartial(route, schema)] as const, ['304', reference('responses', 'NotModified')] as const] : []),
    ...errors,
  ]);
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  '200': 'Success.',
  '201': 'The resource was created.',
  '202': 'The work was accepted. `Location` is the job that does it.',
  '204': 'Success, without content.',
  '307': 'A redirect to `Location`.',
};

interface Success {
  readonly schema: JsonSchema | undefined;
  /** The status of the route by default. */
  readonly status?: number;
  readonly description?: string;
}

function toSuccess(route: Route, components: Components, { schema, status = route.success.status, description }: Success): JsonSchema {
  const isTagged = status === 200 || status === 201;
  const shared = toHeaders({
    ...(isTagged && { ETag: 'ETag' }),
    ...(route.method === 'GET' && status === 200 && { 'Last-Modified': 'LastModified', 'Accept-Ranges': 'AcceptRanges' }),
    ...((status === 201 || status === 202 || status === 307) && { Location: 'Location' }),
    ...(isReplayed(route) && { 'Idempotent-Replayed': 'Replayed' }),
    ...(route.isOfSession && { 'Set-Cookie': 'SetCookie' }),
    ...toOperationHeaders(route),
  });
  const types = typesOf(route);
  const headers: JsonSchema = { ...shared, ...toOwnHeaders(route) };
  const content = schema && {
    ...Object.fromEntries(types.map((type) => [type, toMedia(type, schema, components)])),
    ...('operation' in route && route.stream && { [EVENT_STREAM_TYPE]: { schema: string } }),
    ...Object.fromEntries(alternativesOf(route).map((type) => [type, { schema: BYTES }])),
  };
  return { description: description ?? DESCRIPTIONS[String(status)] ?? 'Success.', headers, ...(content && { content }) };
}

/** Returns the headers of what an operation returns: of files, and of the work of subgraphs. */
function toOperationHeaders(route: Route): Readonly<Record<string, string>> {
  return {
    ...(route.success.content === 'file' && { 'Content-Disposition': 'ContentDisposition' }),
    ...('operation' in route && { 'Server-Timing': 'ServerTiming' }),
  };
}

/** Returns the headers that only this route has. */
function toOwnHeaders({ documented, headers = {} }: Route): JsonSchema {
  const described = Object.entries(documented?.response ?? {}).map(([name, description]) => [name, { description, schema: string }]);
  const constant = Object.entries(headers).map(([name, value]) => [name, { schema: { type: 'string', const: value } }]);
  return Object.fromEntries([...constant, ...described]) as JsonSchema;
}

/** Returns whether the result is kept for a retry with the same Idempotency-Key: not where nothing is, nor where the result has a secret. */
function isReplayed(route: Route): boolean {
  return route.method === 'POST' && 'operation' in route && route.idempotency !== 'ignored' && route.success.content !== 'secret';
}

function typesOf({ success, ...route }: Route): readonly string[] {
  if (success.content === 'file') return success.types;
  return 'operation' in route || route.types.length === 0 ? ['application/json'] : route.types;
}

/** Returns the media types in which a route also sends its resource. */
function alternativesOf(route: Route): readonly string[] {
  return 'operation' in route ? (route.alternatives ?? []).map(({ type }) => type) : [];
}

/**
 * Returns the response 206: one range has the media type of the whole. A range of JSON has its schema, and several ranges are left out there: generated
 * clients take the union of all successes for the type of the result, although only a request with `Range` gets a 206.
 */
function toPartial(route: Route, schema: JsonSchema | undefined): JsonSchema {
  const types = [...typesOf(route), ...alternativesOf(route)];
  const isJson = types.includes('application/json');
  const media = (type: string) => ({ schema: type === 'application/json' && schema ? schema : BYTES });
  return {
    description: 'The requested range. Several ranges are sent as `multipart/byteranges`.',
    headers: {
      ...toHeaders({
        ETag: 'ETag',
        'Last-Modified': 'LastModified',
        'Content-Range': 'ContentRange',
        'Accept-Ranges': 'AcceptRanges',
        ...toOperationHeaders(route),
      }),
      ...toOwnHeaders(route),
    },
    content: Object.fromEntries([...types, ...(isJson ? [] : ['multipart/byteranges'])].map((type) => [type, media(type)])),
  };
}

const BYTES: JsonSchema = { type: 'string', format: 'binary' };

function toMedia(type: string, schema: JsonSchema, components: Components): JsonSchema {
  if (schema['format'] === 'binary') return { schema };
  return type.startsWith('text/') ? { schema: string } : { schema, example: exampleOf(schema, components) };
}

/** The responses in place of 200 to a request with `Range` or conditions. */
export const READ_RESPONSES: Readonly<Record<string, JsonSchema>> = {
  NotModified: {
    description: 'The representation has not changed.',
    headers: toHeaders({ ETag: 'ETag', 'Last-Modified': 'LastModified', 'Accept-Ranges': 'AcceptRanges', 'Server-Timing': 'ServerTiming' }),
  },
};
