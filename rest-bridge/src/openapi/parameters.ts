/** The parameters of a row: path, query and headers. No I/O. */
import { isInputObjectType } from 'graphql';
import { readFilters, readSorts } from '../query/list.ts';
import { KINDS } from '../query/search.ts';
import { defaultPaging } from '../query/paging.ts';
import type { ReaderContext } from '../query/reading.ts';
import type { OperationRow, Row } from '../routes/row.ts';
import { resourceAt } from '../versions/transform.ts';
import { type JsonSchema, toNonNullSchema } from './schemas.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly style?: 'form';
  readonly explode?: false;
}

const text: JsonSchema = { type: 'string' };
const flag: JsonSchema = { type: 'boolean' };

/** Header parameters that several rows share; they stand in `components.parameters`. */
export const SHARED_PARAMETERS: Readonly<Record<string, Parameter>> = {
  RequestId: header('X-Request-ID', "The client's own id for the request; a UUID is echoed, anything else replaced.", {
    type: 'string',
    format: 'uuid',
  }),
  ApiVersion: header('API-Version', 'The version, by its number or by a day: `2`, `2026-11-01`. It must agree with the path.'),
  Version: query('version', 'The version, in place of the path and `API-Version`.', { type: 'integer', minimum: 1 }),
  IfMatch: header('If-Match', 'A list of tags, or `*`. For writes any tag that carries the current version will do; else 412.'),
  IfUnmodifiedSince: header('If-Unmodified-Since', 'Counts without `If-Match` only; else 412.'),
  IfNoneMatch: header('If-None-Match', 'A list of tags, or `*`. A read of what the client has already is 304; a write to it 412.'),
  IfModifiedSince: header('If-Modified-Since', 'Counts without `If-None-Match` only; 304 when nothing has changed.'),
  Range: header('Range', 'Parts of the representation in bytes: `bytes=0-99`, `bytes=-100`, `bytes=0-1,4-5`.'),
  IfRange: header('If-Range', 'A strong tag; the range counts only if the representation still has it.'),
  IdempotencyKey: header(
    'Idempotency-Key',
    'Makes a retry safe: for 24 hours the same key gives the stored answer. Once for each caller, method and path.',
    { type: 'string', minLength: 1, maxLength: 255 },
  ),
};

const READS = ['IfMatch', 'IfUnmodifiedSince', 'IfNoneMatch', 'IfModifiedSince', 'Range', 'IfRange'];
const WRITES = ['IfMatch', 'IfUnmodifiedSince', 'IfNoneMatch'];

/** All parameters of a row; shared ones as references. */
export function toParameters(row: Row, context: ReaderContext): (Parameter | JsonSchema)[] {
  const params = Array.from(row.path.matchAll(/\{(\w+)\}/g), ([, name = '']): Parameter => {
    return { name, in: 'path', required: true, description: name === 'id' ? 'The id.' : 'The id of the inner resource.', schema: text };
  });
  return [...params, ...('operation' in row ? toQuery(row, context) : []), ...toHeaders(row)];
}

function toHeaders(row: Row): JsonSchema[] {
  const isWrite = 'operation' in row && row.changes !== undefined;
  const shared = [
    'RequestId',
    'ApiVersion',
    'Version',
    ...(row.method === 'GET' && row.answers.status === 200 ? READS : []),
    ...(isWrite ? WRITES : []),
    ...(row.method === 'POST' && 'operation' in row && row.idempotency !== 'needed' ? ['IdempotencyKey'] : []),
  ];
  const references = shared.map((name): JsonSchema => ({ $ref: `#/components/parameters/${name}` }));
  const isNeeded = 'operation' in row && row.idempotency === 'needed';
  return isNeeded ? [...references, { ...SHARED_PARAMETERS['IdempotencyKey'], required: true }] : references;
}

function toQuery(row: OperationRow, context: ReaderContext): Parameter[] {
  const { fields, include } = resourceAt(row.resource, context.version);
  const isRead = row.method === 'GET';
  return [
    ...(row.reads.kind === 'list' ? toListParameters(row, context) : []),
    ...(row.reads.kind === 'path' ? Object.entries(row.reads.flags ?? {}).map(([name, means]) => query(name, means, flag)) : []),
    ...(row.answers.shape === 'search' ? toSearchParameters() : []),
    ...(Object.keys(fields).length > 0 && row.answers.shape !== 'nothing'
      ? [names('fields', 'Only these fields.', Object.keys(fields))]
      : []),
    ...(isRead && Object.keys(include).length > 0 ? [names('include', 'Related resources that come along.', Object.keys(include))] : []),
  ];
}

function toListParameters({ reads }: OperationRow, context: ReaderContext): Parameter[] {
  if (reads.kind !== 'list') return [];
  const filters = readFilters(context.schema, reads.rule).map(({ parameter, type, description }): Parameter => {
    const schema = toNonNullSchema(type);
    const list = schema['type'] === 'array' ? ({ style: 'form', explode: false } as const) : {};
    return {
      name: parameter,
      in: 'query',
      description: description ?? parameter,
      schema: isInputObjectType(type) ? text : schema,
      ...list,
    };
  });
  const sorts = [...readSorts(context.schema, reads.rule).keys()];
  const signed = sorts.flatMap((name) => [name, `-${name}`]);
  return [
    ...filters,
    ...(sorts.length > 0
      ? [
          names('sort', 'By these fields, in this order; `-` in front means descending.', signed),
          query('order', 'The direction of `sort`, in place of minus signs.', { type: 'string', enum: ['asc', 'desc'] }),
        ]
      : []),
    ...toPagingParameters(context.version),
  ];
}

function toPagingParameters(version: number): Parameter[] {
  const size = { type: 'integer', minimum: 1, maximum: 100, default: 10 };
  const usual = defaultPaging(version) === 'page' ? 'This is the usual way.' : '';
  const cursorUsual = defaultPaging(version) === 'cursor' ? 'This is the usual way.' : '';
  return [
    query('limit', 'How many on a page; goes with `page`, `offset` and `cursor`.', size),
    query('page', `Which page, from 1. ${usual}`.trim(), { type: 'integer', minimum: 1, maximum: 10_000 }),
    query('perPage', 'How many on a page; goes with `page`, and answers with `meta` and `links`.', size),
    query('offset', 'How many to skip.', { type: 'integer', minimum: 0, maximum: 1_000_000 }),
    query(
      'cursor',
      `Where to go on: \`nextCursor\` or \`prevCursor\` of an earlier page; empty for the start. ${cursorUsual}`.trim(),
      text,
    ),
    query('after', 'Another name for `cursor`.', text),
  ];
}

function toSearchParameters(): Parameter[] {
  return [
    { ...query('q', 'The words to look for.', { type: 'string', minLength: 1 }), required: true },
    names('type', 'Only these kinds.', KINDS),
    query('limit', 'How many on a page.', { type: 'integer', minimum: 1, maximum: 100, default: 10 }),
    query('cursor', 'Where to go on: `nextCursor` of an earlier page.', text),
    query('after', 'Another name for `cursor`.', text),
  ];
}

function query(name: string, description: string, schema: JsonSchema): Parameter {
  return { name, in: 'query', description, schema };
}

/** A comma-separated list of names. */
function names(name: string, description: string, known: readonly string[]): Parameter {
  const schema = { type: 'array', items: { type: 'string', enum: known } };
  return { name, in: 'query', description, schema, style: 'form', explode: false };
}

function header(name: string, description: string, schema: JsonSchema = text): Parameter {
  return { name, in: 'header', description, schema };
}
