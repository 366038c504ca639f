/** The parameters of a route in path, query and headers. No I/O. */
import { lengthAt } from '@trestle/schema/lengths';
import { isInputObjectType } from 'graphql';
import { toFilters, toSortFields } from '../query/list-parameters.ts';
import { SEARCH_TYPES } from '../query/search.ts';
import { DEFAULT_LIMIT, MAX_LIMIT, MAX_OFFSET, defaultPaging, toMaxPage } from '../query/paging.ts';
import type { ReaderContext } from '../query/request-reader.ts';
import { type OperationRoute, type Route, selectableOf } from '../routes/route.ts';
import { exampleOf, idExampleOf } from './examples.ts';
import { limitsOf } from '../query/limits.ts';
import { type JsonSchema, toNonNullSchema } from './schemas.ts';

/** A parameter of an OpenAPI document. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly style?: 'form';
  readonly explode?: false;
  readonly example?: unknown;
}

const string: JsonSchema = { type: 'string' };
const KEY: JsonSchema = { type: 'string', minLength: 1, maxLength: 255 };
const cursor: JsonSchema = { type: 'string', maxLength: lengthAt({ coordinate: '', name: 'after', type: 'String' }).max };

/** Returns the parameters that several routes share; they are in `components.parameters`. */
export function sharedParameters(version: number): Readonly<Record<string, Parameter>> {
  return {
    RequestId: header({
      name: 'X-Request-ID',
      description: 'The id of the request. A UUID is echoed; any other value is replaced.',
      example: '3f2b7a80-52b4-4f0e-9d7b-0c7a4a5b9f11',
      schema: { type: 'string', format: 'uuid' },
    }),
    ApiVersion: header({
      name: 'API-Version',
      description: 'The API version: a number or a date, such as `2` or `2026-11-01`. It must agree with the path.',
      example: String(version),
    }),
    Version: query({
      name: 'version',
      description: 'The API version. It must agree with the path and `API-Version`.',
      schema: { type: 'integer', minimum: 1 },
      example: version,
    }),
    IfMatch: header({
      name: 'If-Match',
      description:
        'A list of entity tags, or `*`. A write matches any tag that carries the current version, and a creation the tag of the list at its path. Without a match the response is 412.',
      example: '*',
    }),
    IfUnmodifiedSince: header({
      name: 'If-Unmodified-Since',
      description: 'Ignored with `If-Match`. When the resource has changed since, the response is 412.',
      example: 'Sat, 31 Jan 2032 12:00:00 GMT',
    }),
    IfNoneMatch: header({
      name: 'If-None-Match',
      description: 'A list of entity tags, or `*`. With a match the response is 304 for a read and 412 for a write.',
      example: '"v3-Zm9vYmFyYmF6cXV4"',
    }),
    IfModifiedSince: header({
      name: 'If-Modified-Since',
      description: 'Ignored with `If-None-Match`. When the resource has not changed since, the response is 304.',
      example: 'Sun, 31 Jan 2021 12:00:00 GMT',
    }),
    Range: header({
      name: 'Range',
      description: 'Byte ranges of the representation: `bytes=0-99`, `bytes=-100`, `bytes=0-1,4-5`.',
      example: 'bytes=0-99',
    }),
    IfRange: header({
      name: 'If-Range',
      description: 'An entity tag. Without a match `Range` is ignored.',
      example: '"v3-Zm9vYmFyYmF6cXV4"',
    }),
    ...KEYS,
  };
}

const KEYS: Readonly<Record<string, Parameter>> = {
  IdempotencyKey: header({
    name: 'Idempotency-Key',
    description:
      'Makes a retry safe: a repeated key gets the stored response for 24 hours, or 409 when that had a secret. A key is valid for one caller, method and path.',
    example: 'b0a1c2d3-order-1',
    schema: KEY,
  }),
  IgnoredIdempotencyKey: header({
    name: 'Idempotency-Key',
    description: 'Accepted and ignored: the result is not stored, and a repetition is a request of its own.',
    example: 'b0a1c2d3-login-1',
    schema: KEY,
  }),
};

const READS = ['IfMatch', 'IfUnmodifiedSince', 'IfNoneMatch', 'IfModifiedSince', 'Range', 'IfRange'];
const WRITES = ['IfMatch', 'IfUnmodifiedSince', 'IfNoneMatch'];
/** A list has no date of its last change. */
const CREATIONS = ['IfMatch', 'IfNoneMatch'];

/** Returns the parameters of a route; shared ones as references. */
export function toParameters(route: Route, context: ReaderContext): (Parameter | JsonSchema)[] {
  const params = Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name = '']): Parameter => {
    const description = name === 'id' ? 'The id of the resource.' : 'The id of the nested resource.';
    return { name, in: 'path', required: true, description, schema: string, example: idExampleOf(route.path, name) };
  });
  return [...params, ...('operation' in route ? toQuery(route, context) : []), ...toHeaders(route, context.version)];
}

function toHeaders(route: Route, version: number): JsonSchema[] {
  const conditionsOn = 'operation' in route ? route.conditionsOn : undefined;
  const shared = [
    'RequestId',
    'ApiVersion',
    'Version',
    ...(route.method === 'GET' && route.success.status === 200 ? READS : []),
    ...(conditionsOn ? (conditionsOn === 'collection' ? CREATIONS : WRITES) : []),
    ...('operation' in route ? toKeyNames(route) : []),
  ];
  const references = shared.map((name): JsonSchema => ({ $ref: `#/components/parameters/${name}` }));
  const own = Object.entries(route.documented?.request ?? {}).map(([name, description]): JsonSchema => ({
    name,
    in: 'header',
    description,
    schema: string,
  }));
  const needsKey = 'operation' in route && route.idempotency === 'required';
  return needsKey ? [...references, ...own, { ...sharedParameters(version)['IdempotencyKey'], required: true }] : [...references, ...own];
}

/** Returns the shared parameter of the Idempotency-Key. That of a required one is the route's own. */
function toKeyNames({ method, idempotency }: OperationRoute): readonly string[] {
  if (method !== 'POST' || idempotency === 'required') return [];
  return [idempotency === 'ignored' ? 'IgnoredIdempotencyKey' : 'IdempotencyKey'];
}

const TITLE: Parameter = query({
  name: 'title',
  description: 'The title of a file that is sent without a form.',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
  example: 'Driving the last rivet',
});

function toQuery(route: OperationRoute, context: ReaderContext): Parameter[] {
  const { fields, include } = selectableOf(route, context.version);
  const isRead = route.method === 'GET';
  return [
    ...(route.input.kind === 'list' ? toListParameters(route, context) : []),
    ...(route.input.kind === 'path' ? Object.entries(route.input.flags ?? {}).map(toFlagParameter) : []),
    ...(route.success.content === 'events' ? toEventParameters() : []),
    ...(route.input.kind === 'upload' ? [TITLE] : []),
    ...(route.success.content === 'search' ? toSearchParameters() : []),
    ...(Object.keys(fields).length > 0 && route.success.content !== 'none'
      ? [names({ name: 'fields', description: 'The fields of the representation.', known: Object.keys(fields) })]
      : []),
    ...(isRead && Object.keys(include).length > 0
      ? [names({ name: 'include', description: 'Related resources to add to the representation.', known: Object.keys(include) })]
      : []),
  ];
}

function toFlagParameter([name, description]: [string, string]): Parameter {
  return query({ name, description, schema: { type: 'boolean' }, example: false });
}

function toListParameters({ input: listInput }: OperationRoute, context: ReaderContext): Parameter[] {
  if (listInput.kind !== 'list') return [];
  const { filter: input = '' } = listInput.rule;
  const filters = toFilters(context.schema, listInput.rule).map(({ parameter, field, type, description }): Parameter => {
    const schema: JsonSchema = { ...toNonNullSchema(type), ...limitsOf({ coordinate: `${input}.${field}`, name: field, type }) };
    const list = schema['type'] === 'array' ? ({ style: 'form', explode: false } as const) : {};
    return {
      name: parameter,
      in: 'query',
      description: description ?? parameter,
      schema: isInputObjectType(type) ? string : schema,
      example: exampleOf(schema, {}, { name: parameter.replace(/_[gl]te$/, '') }),
      ...list,
    };
  });
  const sorts = [...toSortFields(context.schema, listInput.rule).keys()];
  const signed = sorts.flatMap((name) => [name, `-${name}`]);
  return [
    ...filters,
    ...(sorts.length > 0
      ? [
          names({ name: 'sort', description: 'The fields to sort by; a minus sign before a field means descending.', known: signed }),
          query({
            name: 'order',
            description: 'The direction of `sort`, in place of minus signs.',
            schema: { type: 'string', enum: ['asc', 'desc'] },
            example: 'desc',
          }),
        ]
      : []),
    ...toPagingParameters(context.version, listInput.rule.maxOffset),
  ];
}

function toPagingParameters(version: number, maxOffset = MAX_OFFSET): Parameter[] {
  const skipped = maxOffset.toLocaleString('en');
  const isDefault = (variant: 'page' | 'cursor') => (defaultPaging(version) === variant ? ' The default paging.' : '');
  return [
    pageSize('limit', 'The number of items per page, with `page`, `offset` or `cursor`.'),
    query({
      name: 'page',
      description: `The number of the page, starting with 1. At most ${skipped} items stand before it.${isDefault('page')}`,
      schema: { type: 'integer', minimum: 1, maximum: toMaxPage(1) },
      example: 1,
    }),
    pageSize('perPage', 'The number of items per page, with `page`. The response has `meta` and `links`.'),
    query({
      name: 'offset',
      description: `The number of items to skip, at most ${skipped}.`,
      schema: { type: 'integer', minimum: 0, maximum: MAX_OFFSET },
      example: 0,
    }),
    query({
      name: 'cursor',
      description: `\`nextCursor\` or \`prevCursor\` of another page; empty for the first page.${isDefault('cursor')}`,
      schema: cursor,
      example: '',
    }),
    query({ name: 'after', description: 'Another name of `cursor`.', schema: cursor }),
  ];
}

function toSearchParameters(): Parameter[] {
  const q = query({
    name: 'q',
    description:
      'The words to search for. `"…"` finds a phrase, `or` either side, `-` excludes a word. The last word may be incomplete, inflections and misspellings match.',
    schema: { type: 'string', minLength: 1, maxLength: lengthAt(SEARCH).max },
    example: 'bridge',
  });
  return [
    { ...q, required: true },
    names({ name: 'type', description: 'The types of results; all by default.', known: SEARCH_TYPES }),
    pageSize('limit', 'The number of results per page.'),
    query({ name: 'cursor', description: '`nextCursor` or `prevCursor` of a page.', schema: cursor }),
    query({ name: 'after', description: 'Another name of `cursor`.', schema: cursor }),
  ];
}

function toEventParameters(): Parameter[] {
  const type = query({
    name: 'type',
    description: 'Types of events: exact ones, families such as `post.*`, or `*`; all by default. Separated by commas.',
    schema: { type: 'array', items: string, maxItems: 50 },
    example: ['post.*'],
  });
  return [
    { ...type, style: 'form', explode: false },
    pageSize('limit', 'The number of events per page of a list.'),
    query({
      name: 'after',
      description: '`nextCursor` of a list, or the id of an event of a stream: what is behind it follows.',
      schema: cursor,
    }),
    query({ name: 'cursor', description: 'Another name of `after`.', schema: cursor }),
  ];
}

const SEARCH = { coordinate: 'Query.search(query:)', name: 'query', type: 'String' };

function query(parameter: Pick<Parameter, 'name' | 'description' | 'schema' | 'example'>): Parameter {
  const { name, description, schema, example } = parameter;
  return { name, in: 'query', description, schema, ...(example !== undefined && { example }) };
}

function pageSize(name: string, description: string): Parameter {
  const schema: JsonSchema = { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT };
  return query({ name, description, schema, example: DEFAULT_LIMIT });
}

interface NamesOptions extends Pick<Parameter, 'name' | 'description'> {
  readonly known: readonly string[];
}

/** Returns the parameter of a comma-separated list of names. The parameter may also be repeated. */
function names({ name, description, known }: NamesOptions): Parameter {
  const schema = { type: 'array', items: { type: 'string', enum: known } };
  // The first field is `id`, whose example alone would say little.
  const example = known.slice(0, name === 'fields' ? 2 : 1);
  return { name, in: 'query', description, schema, style: 'form', explode: false, example };
}

function header({ name, description, example, schema = string }: Omit<Parameter, 'in' | 'schema'> & { schema?: JsonSchema }): Parameter {
  return { name, in: 'header', description, schema, example };
}
