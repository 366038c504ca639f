/** What a row may answer: its success and every error that can occur. No I/O. */
import { ERRORS, type ErrorCode } from '@trestle/schema/errors';
import type { OperationRow, Row } from '../routes/row.ts';
import { type Components, exampleOf } from './examples.ts';
import type { JsonSchema } from './schemas.ts';

const reference = (kind: string, name: string): JsonSchema => ({ $ref: `#/components/${kind}/${name}` });
const text: JsonSchema = { type: 'string' };

/** Response headers that stand in `components.headers`. */
export const SHARED_HEADERS: Readonly<Record<string, JsonSchema>> = {
  RequestId: { description: 'The id of the request.', schema: { type: 'string', format: 'uuid' } },
  ApiVersion: { description: 'The version of the answer.', schema: text },
  Deprecation: { description: '`true` once the version is deprecated.', schema: text },
  Sunset: { description: 'When the deprecated version ends.', schema: text },
  Link: { description: 'Pages of a list, and the successor of a deprecated version (RFC 8288).', schema: text },
  CacheControl: { description: 'Who may keep the answer; what was seen by right of a credential is never public.', schema: text },
  Vary: { description: 'The request headers that the answer depends on.', schema: text },
  ETag: { description: 'A strong tag from the version and the bytes.', schema: text },
  LastModified: { description: 'When the resource last changed; absent where others show through.', schema: text },
  Location: { description: 'Where it is.', schema: text },
  Replayed: { description: '`true` when the stored answer of an earlier request is given.', schema: text },
  Allow: { description: 'The methods that the path takes.', schema: text },
  RetryAfter: { description: 'Seconds until another try is worth it.', schema: { type: 'integer' } },
  Authenticate: { description: 'How to authenticate.', schema: text },
  ContentRange: { description: 'Which part this is.', schema: text },
  AcceptRanges: { description: '`bytes`', schema: text },
};

const EVERY = {
  'X-Request-ID': 'RequestId',
  'API-Version': 'ApiVersion',
  'Cache-Control': 'CacheControl',
  Vary: 'Vary',
  Deprecation: 'Deprecation',
  Sunset: 'Sunset',
  Link: 'Link',
};

export function toHeaders(more: Readonly<Record<string, string>> = {}): JsonSchema {
  return Object.fromEntries(Object.entries({ ...EVERY, ...more }).map(([name, shared]) => [name, reference('headers', shared)]));
}

const OWN_HEADERS: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  UNAUTHORIZED: { 'WWW-Authenticate': 'Authenticate' },
  METHOD_NOT_ALLOWED: { Allow: 'Allow' },
  RANGE_NOT_SATISFIABLE: { 'Content-Range': 'ContentRange' },
  SERVICE_UNAVAILABLE: { 'Retry-After': 'RetryAfter' },
  CONFLICT: { 'Retry-After': 'RetryAfter' },
};

/** One response for each error, in both of their forms. */
export function toErrorResponses(): Record<string, JsonSchema> {
  const [requestId, details] = [
    '3f2b7a80-52b4-4f0e-9d7b-0c7a4a5b9f11',
    [{ field: 'limit', message: 'must be a whole number from 1 to 100' }],
  ];
  return Object.fromEntries(
    Object.entries(ERRORS).map(([code, { status, meaning }]) => {
      const own = { message: meaning, ...(code === 'VALIDATION_ERROR' && { details }), requestId };
      const problem = { type: 'about:blank', title: code, status, detail: meaning, code, requestId };
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

const faults: JsonSchema = {
  type: 'array',
  items: { type: 'object', properties: { field: text, message: text }, required: ['field', 'message'] },
};
const code: JsonSchema = { type: 'string', enum: Object.keys(ERRORS) };

export const ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Error: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { code, message: text, details: faults, requestId: { type: 'string', format: 'uuid' } },
        required: ['code', 'message', 'requestId'],
      },
    },
    required: ['error'],
  },
  Problem: {
    type: 'object',
    description: 'An error as RFC 9457 has it, for clients that take nothing else.',
    properties: {
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: text,
      code,
      details: faults,
      requestId: { type: 'string', format: 'uuid' },
    },
    required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  },
};

/** What can go wrong with a row, besides what can with each. */
export function errorsOf(row: Row): ErrorCode[] {
  const always: ErrorCode[] = [
    'VALIDATION_ERROR',
    'UNAUTHORIZED',
    'NOT_FOUND',
    'NOT_ACCEPTABLE',
    'REQUEST_TIMEOUT',
    'GONE',
    'URI_TOO_LONG',
  ];
  const ours: ErrorCode[] = ['REQUEST_HEADER_FIELDS_TOO_LARGE', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];
  const isOperation = 'operation' in row;
  const isWrite = row.method !== 'GET';
  return [
    ...always,
    ...(isOperation ? (['FORBIDDEN', 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'] as const) : []),
    ...(row.answers.status === 200 || (isOperation && row.changes) ? (['PRECONDITION_FAILED'] as const) : []),
    ...(row.method === 'GET' && row.answers.status === 200 ? (['RANGE_NOT_SATISFIABLE'] as const) : []),
    ...(isOperation && isWrite ? (['CONFLICT', 'BUSINESS_RULE_VIOLATION'] as const) : []),
    ...(isOperation && takesBody(row) ? (['UNSUPPORTED_MEDIA_TYPE', 'PAYLOAD_TOO_LARGE'] as const) : []),
    ...(row.answers.shape === 'announced' ? (['NOT_IMPLEMENTED'] as const) : []),
    ...ours,
  ];
}

export function takesBody({ reads }: OperationRow): boolean {
  return reads.kind === 'body' || (reads.kind === 'own' && reads.takesBody);
}

/** The responses of a row by status; those of errors by reference. */
export function toResponses(row: Row, components: Components, schema: JsonSchema | undefined): Record<string, JsonSchema> {
  const { status, shape } = row.answers;
  const errors = errorsOf(row).map((name): [string, JsonSchema] => [String(ERRORS[name].status), reference('responses', name)]);
  const isRead = row.method === 'GET' && status === 200;
  const success =
    shape === 'announced' ? [] : [[String(status), toSuccess(row, components, { schema: status === 307 ? undefined : schema })] as const];
  // Clients follow redirects by themselves, and show what stands there.
  const followed =
    status === 307
      ? [['200', toSuccess(row, components, { schema, status: 200, description: 'What the redirect leads to.' })] as const]
      : [];
  return Object.fromEntries([
    ...success,
    ...followed,
    ...('operation' in row && row.mayCreate ? [['201', toSuccess(row, components, { schema, status: 201 })] as const] : []),
    ...(isRead ? [['206', reference('responses', 'Partial')] as const, ['304', reference('responses', 'NotModified')] as const] : []),
    ...errors,
  ]);
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  '200': 'It is here.',
  '201': 'It was made.',
  '204': 'It is done.',
  '307': 'It is elsewhere.',
};

interface Success {
  readonly schema: JsonSchema | undefined;
  /** The row's own when absent. */
  readonly status?: number;
  readonly description?: string;
}

function toSuccess(row: Row, components: Components, { schema, status = row.answers.status, description }: Success): JsonSchema {
  const isTagged = status === 200 || status === 201;
  const headers = toHeaders({
    ...(isTagged && { ETag: 'ETag' }),
    ...(row.method === 'GET' && status === 200 && { 'Last-Modified': 'LastModified', 'Accept-Ranges': 'AcceptRanges' }),
    ...((status === 201 || status === 307) && { Location: 'Location' }),
    ...(row.method === 'POST' && { 'Idempotent-Replayed': 'Replayed' }),
  });
  const alternatives = 'operation' in row ? (row.alternatives ?? []) : [];
  const types = 'operation' in row ? ['application/json'] : row.types;
  const content = schema && {
    ...Object.fromEntries(types.map((type) => [type.replace('*/*', 'application/json'), toMedia(type, schema, components)])),
    ...Object.fromEntries(alternatives.map(({ type }) => [type, { schema: { type: 'string', format: 'binary' } }])),
  };
  return { description: description ?? DESCRIPTIONS[String(status)] ?? 'It is here.', headers, ...(content && { content }) };
}

function toMedia(type: string, schema: JsonSchema, components: Components): JsonSchema {
  return type.startsWith('text/') ? { schema: text } : { schema, example: exampleOf(schema, components) };
}

/** Answers in place of a 200. */
export const READ_RESPONSES: Readonly<Record<string, JsonSchema>> = {
  Partial: {
    description: 'The part that was asked for; several parts come as `multipart/byteranges`.',
    headers: toHeaders({ ETag: 'ETag', 'Content-Range': 'ContentRange', 'Accept-Ranges': 'AcceptRanges' }),
  },
  NotModified: { description: 'The client has it already.', headers: toHeaders({ ETag: 'ETag', 'Last-Modified': 'LastModified' }) },
};
