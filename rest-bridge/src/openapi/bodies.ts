/** The schemas of request bodies and of successful responses. No I/O. */
import { getNullableType, isInputObjectType, isObjectType, isRequiredArgument } from 'graphql';
import { toAcceptedBodyTypes } from '../http/json-body.ts';
import { PART_TYPE } from '../http/tus.ts';
import { argumentsOf } from '../query/argument-body.ts';
import { writableFields } from '../query/body-input.ts';
import { MAX_LIMIT, defaultPaging } from '../query/paging.ts';
import { SEARCH_TYPES } from '../query/search.ts';
import type { ReaderContext } from '../query/request-reader.ts';
import type { OperationRoute, Route } from '../routes/route.ts';
import { moneyInputs } from '../versions/money-input.ts';
import { type Components, exampleOfInput, searchExample } from './examples.ts';
import { toIndex } from './index-page.ts';
import { limitsOf } from '../query/limits.ts';
import { type JsonSchema, toFieldSchema, toSchema } from './schemas.ts';
import { INTEGER_IDS } from '../query/values.ts';

const string: JsonSchema = { type: 'string' };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const flag: JsonSchema = { type: 'boolean' };
const cursor: JsonSchema = { type: ['string', 'null'] };

/** The envelopes of the four paging variants (spec §4.4). */
export const PAGING_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  PagePagination: all({ page: count, limit: count, total: count, totalPages: count, hasNextPage: flag, nextCursor: cursor }),
  OffsetPagination: all({ total: count, limit: count, offset: count, hasMore: flag }),
  CursorPagination: all({ limit: count, hasNextPage: flag, hasPrevPage: flag, nextCursor: cursor, prevCursor: cursor }),
  PageMeta: all({ currentPage: count, totalPages: count, perPage: count, totalCount: count }),
  PageLinks: all({ first: cursor, prev: cursor, next: cursor, last: cursor }),
};

const BINARY: JsonSchema = { type: 'string', format: 'binary' };

/** A form with the title before the file, or the file itself with the title in the query. */
const UPLOAD: JsonSchema = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: { type: 'object', properties: { title: string, file: BINARY }, required: ['title', 'file'] },
    },
    'video/*': { schema: BINARY },
  },
};

/** Returns the request body of a route; undefined for a route without one. */
export function toRequestBody(route: Route, context: ReaderContext, components: Components): JsonSchema | undefined {
  if (!('operation' in route)) return undefined;
  if (route.input.kind === 'upload') return UPLOAD;
  if (route.input.kind === 'upload part') return { required: true, content: { [PART_TYPE]: { schema: BINARY } } };
  const schema = toBodySchema(route, context);
  if (!schema) return undefined;
  const media = { schema, example: exampleOfInput(inputNameOf(route), schema, components) };
  const types = toAcceptedBodyTypes(route.method).split(', ');
  const required = route.input.kind !== 'body' || !route.input.fromHeaders;
  return { required, content: Object.fromEntries(types.map((type) => [type, media])) };
}

/** Returns the name of the input type, or of the mutation whose arguments the body has. */
function inputNameOf({ input }: OperationRoute): string {
  if (input.kind === 'body') return input.rule.input;
  return input.kind === 'arguments' ? `Mutation.${input.mutation}` : '';
}

function toBodySchema({ input, path }: OperationRoute, context: ReaderContext): JsonSchema | undefined {
  if (input.kind === 'arguments') return toArgumentsSchema(input.mutation, path, context);
  if (input.kind !== 'body') return undefined;
  const { rule } = input;
  const { fields, requiredNames } = writableFields(context, rule);
  const money = moneyInputs(rule.input, context.version);
  const properties = [...fields.values()]
    .filter(({ name }) => !money.some(({ currency }) => currency === name))
    .map(({ name, type, description, defaultValue }) => {
      if (money.some(({ field }) => field === name)) return [name, { $ref: '#/components/schemas/Money' }];
      const isClearable = rule.mode === 'create' || CLEARABLE.has(name);
      const shown = toFieldSchema(rule.input, { name, type: isClearable ? type : getNullableType(type) });
      const sent = isClearable || INTEGER_IDS.has(name) ? shown : withoutNull(shown);
      return [name, { ...(description != null && { description }), ...sent, ...toDefault(defaultValue, sent) }];
    });
  const type = context.schema.getType(rule.input);
  const description = isInputObjectType(type) ? type.description : undefined;
  return {
    type: 'object',
    ...(description != null && { description }),
    properties: Object.fromEntries(properties),
    ...(requiredNames.length > 0 && { required: requiredNames }),
    // A replacement may have the read-only fields of its resource, so that clients can send back what they received.
    ...(rule.mode !== 'replace' && { additionalProperties: false }),
  };
}

/** Arguments that the path names are not in the body. */
function toArgumentsSchema(mutation: string, path: string, context: ReaderContext): JsonSchema {
  const argumentCount = ARGUMENT_COUNTS[mutation];
  const args = argumentsOf(context, mutation).filter(({ name }) => !path.includes(`{${name}}`));
  const properties = args.map(({ name, type, description }) => {
    const limits = limitsOf({ coordinate: `Mutation.${mutation}(${name}:)`, name, type });
    return [name, { ...(description != null && { description }), ...toSchema(type), ...limits }];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: args.filter(isRequiredArgument).map(({ name }) => name),
    additionalProperties: false,
    ...(argumentCount !== undefined && { minProperties: argumentCount, maxProperties: argumentCount }),
  };
}

/** The fields that PATCH and PUT accept null for: it clears the first three, and counts as absent for passwords. Null is refused for all others. */
const CLEARABLE: ReadonlySet<string> = new Set(['bio', 'age', 'requestsPerMinute', 'currentPassword', 'password']);

/** How many arguments a body must have, for mutations with arguments of which a request has exactly one. */
const ARGUMENT_COUNTS: Readonly<Record<string, number>> = { requestPasswordReset: 1, completeLogin: 2 };

/** Returns the schema without null. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const type = [schema['type']].flat().filter((name) => name !== 'null');
  const values = schema['enum'] as unknown[] | undefined;
  return { ...schema, type: type.length === 1 ? type[0] : type, ...(values && { enum: values.filter((value) => value !== null) }) };
}

/** Returns the default of a field; that of an enum in lower case, like its values. */
function toDefault(value: unknown, schema: JsonSchema): JsonSchema {
  if (value === undefined) return {};
  return { default: Array.isArray(schema['enum']) && typeof value === 'string' ? value.toLowerCase() : value };
}

const SECRET: JsonSchema = {
  ...string,
  description:
    'The secret itself: an API key `trestle_live_…`, 51 characters, or the secret of a webhook, `whsec_…`. It is shown this once.',
};

const INDEX: JsonSchema = {
  ...all({
    name: string,
    description: string,
    _links: { type: 'object', additionalProperties: all({ href: string, title: string }) },
  }),
  examples: [
    toIndex({ bridge: 'https://api.example.com', gateway: 'https://graphql.example.com/graphql', registry: undefined, prefix: '/v1' }),
  ],
};

/** A JSON Web Key Set (RFC 7517 §5) of keys on the curve P-256. */
const KEY_SET: JsonSchema = all({
  // A key may have further members (RFC 7517 §4), such as the time until which an old key is kept.
  keys: {
    type: 'array',
    items: {
      ...all({ kty: string, crv: string, x: string, y: string, kid: string, use: string, alg: string }),
      additionalProperties: true,
    },
  },
});

/** Returns the schema of a document; it is a string unless it is JSON. */
function toDocumentSchema(path: string): JsonSchema {
  if (path === '/') return INDEX;
  if (path === '/.well-known/jwks.json') return KEY_SET;
  return path.endsWith('.json') ? { type: 'object' } : string;
}

/** Returns the schema of a successful response; undefined for one without content. */
export function toResponseSchema(route: Route, resource: JsonSchema, { schema, version }: ReaderContext): JsonSchema | undefined {
  switch (route.success.content) {
    case 'resource':
      return resource;
    case 'secret':
      return all({ secret: SECRET, [route.success.member]: resource });
    case 'list':
      return toListSchema(resource, version);
    case 'events':
      return all({ data: { type: 'array', items: resource }, pagination: { $ref: '#/components/schemas/CursorPagination' } });
    case 'items':
      return all({
        data: { type: 'array', items: resource, maxItems: MAX_LIMIT },
        pagination: { $ref: `#/components/schemas/${defaultPaging(version) === 'page' ? 'PagePagination' : 'CursorPagination'}` },
      });
    case 'login':
      return all({
        accessToken: string,
        tokenType: string,
        expiresIn: { type: 'integer', description: 'Lifetime of the token in seconds.' },
        user: resource,
      });
    case 'object':
      return toObjectSchema(route.success.type, schema);
    case 'file':
      return BINARY;
    case 'search':
      return toSearchSchema(version);
    case 'document':
      return toDocumentSchema(route.path);
    case 'redirect':
      return { $ref: `#/components/schemas/${route.success.target.type}` };
    case 'none':
      return undefined;
  }
}

/** Returns the schema of an object type with all of its fields. */
function toObjectSchema(name: string, schema: ReaderContext['schema']): JsonSchema {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`The schema has no object type ${name}`);
  const fields = Object.values(type.getFields()).map((field) => [
    field.name,
    { ...(field.description != null && { description: field.description }), ...toSchema(field.type) },
  ]);
  return all(Object.fromEntries(fields) as Record<string, JsonSchema>);
}

function toListSchema(resource: JsonSchema, version: number): JsonSchema {
  const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
  // The default variant comes first.
  const variants =
    defaultPaging(version) === 'page'
      ? ['PagePagination', 'CursorPagination', 'OffsetPagination']
      : ['CursorPagination', 'PagePagination', 'OffsetPagination'];
  return {
    type: 'object',
    properties: {
      data: { type: 'array', items: resource },
      pagination: { anyOf: variants.map(reference) },
      meta: { ...reference('PageMeta'), description: 'In place of `pagination` when the request has `perPage`.' },
      links: { ...reference('PageLinks'), description: 'With `perPage`: paths of other pages.' },
      _errors: reference('PartialErrors'),
    },
    required: ['data'],
  };
}

function toSearchSchema(version: number): JsonSchema {
  const self = all({ self: all({ href: string }) });
  const shown = {
    type: { type: 'string', enum: SEARCH_TYPES },
    id: string,
    name: string,
    bio: { type: ['string', 'null'] },
    title: string,
    status: string,
    body: string,
    postId: string,
    highlights: HIGHLIGHTS,
    _links: self,
  };
  const result = { type: 'object', properties: shown, required: ['type', 'id', '_links'] };
  const pagination = { $ref: '#/components/schemas/CursorPagination' };
  const properties = { data: { type: 'array', items: result }, pagination, _errors: { $ref: '#/components/schemas/PartialErrors' } };
  return { type: 'object', properties, required: ['data', 'pagination'], examples: [searchExample(version)] };
}

const HIGHLIGHTS: JsonSchema = {
  type: 'object',
  description: 'The fields that contain words of the query, as HTML: everything is escaped but `<mark>` around each match.',
  properties: { name: string, bio: string, title: string, body: string },
};

/** Returns the schema of an object whose properties are all required. */
function all(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties) };
}
