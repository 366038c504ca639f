/** The parameters of a row: path, query and headers. No I/O. */
import { lengthAt } from '@trestle/schema/lengths';
import { isInputObjectType } from 'graphql';
import { readFilters, readSorts } from '../query/list.ts';
import { KINDS } from '../query/search.ts';
import { defaultPaging } from '../query/paging.ts';
import type { ReaderContext } from '../query/reading.ts';
import type { OperationRow, Row } from '../routes/row.ts';
import { resourceAt } from '../versions/transform.ts';
import { exampleOf, idExampleOf } from './examples.ts';
import { limitsOf } from './limits.ts';
import { type JsonSchema, toNonNullSchema } from './schemas.ts';

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

const text: JsonSchema = { type: 'string' };
const flag: JsonSchema = { type: 'boolean' };
const cursor: JsonSchema = { type: 'string', maxLength: lengthAt({ coordinate: '', name: 'after', type: 'String' }).max };

/** Parameters that several rows share; they stand in `components.parameters`. */
export function sharedParameters(version: number): Readonly<Record<string, Parameter>> {
  return {
    RequestId: header(
      'X-Request-ID',
      "The client's own id for the request; a UUID is echoed, anything else replaced.",
      '3f2b7a80-52b4-4f0e-9d7b-0c7a4a5b9f11',
      { type: 'string', format: 'uuid' },
    ),
    ApiVersion: header(
      'API-Version',
      'The version, by its number or by a day: `2`, `2026-11-01`. It must agree with the path.',
      String(version),
    ),
    Version: query('version', 'The version, in place of the path and `API-Version`.', { type: 'integer', minimum: 1 }, version),
    IfMatch: header('If-Match', 'A list of tags, or `*`. For writes any tag that carries the current version will do; else 412.', '*'),
    IfUnmodifiedSince: header('If-Unmodified-Since', 'Counts without `If-Match` only; else 412.', 'Sat, 31 Jan 2032 12:00:00 GMT'),
    IfNoneMatch: header(
      'If-None-Match',
      'A list of tags, or `*`. A read of what the client has already is 304; a write to it 412.',
      '"v3-Zm9vYmFyYmF6cXV4"',
    ),
    IfModifiedSince: header(
      'If-Modified-Since',
      'Counts without `If-None-Match` only; 304 when nothing has changed.',
      'Sun, 31 Jan 2021 12:00:00 GMT',
    ),
    Range: header('Range', 'Parts of the representation in bytes: `bytes=0-99`, `bytes=-100`, `bytes=0-1,4-5`.', 'bytes=0-99'),
    IfRange: header('If-Range', 'A strong tag; the range counts only if the representation still has it.', '"v3-Zm9vYmFyYmF6cXV4"'),
    IdempotencyKey: header(
      'Idempotency-Key',
      'Makes a retry safe: for 24 hours the same key gives the stored answer. Once for each caller, method and path.',
      'b0a1c2d3-order-1',
      { type: 'string', minLength: 1, maxLength: 255 },
    ),
  };
}

const READS = ['IfMatch', 'IfUnmodifiedSince', 'IfNoneMatch', 'IfModifiedSince', 'Range', 'IfRange'];
const WRITES = ['IfMatch', 'IfUnmodifiedSince', 'IfNoneMatch'];

/** All parameters of a row; shared ones as references. */
export function toParameters(row: Row, context: ReaderContext): (Parameter | JsonSchema)[] {
  const params = Array.from(row.path.matchAll(/\{(\w+)\}/g), ([, name = '']): Parameter => {
    const description = name === 'id' ? 'The id.' : 'The id of the inner resource.';
    return { name, in: 'path', required: true, description, schema: text, example: idExampleOf(row.path, name) };
  });
  return [...params, ...('operation' in row ? toQuery(row, context) : []), ...toHeaders(row, context.version)];
}

function toHeaders(row: Row, version: number): JsonSchema[] {
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
  return isNeeded ? [...references, { ...sharedParameters(version)['IdempotencyKey'], required: true }] : references;
}

function toQuery(row: OperationRow, context: ReaderContext): Parameter[] {
  const { fields, include } = resourceAt(row.resource, context.version);
  const isRead = row.method === 'GET';
  return [
    ...(row.reads.kind === 'list' ? toListParameters(row, context) : []),
    ...(row.reads.kind === 'path' ? Object.entries(row.reads.flags ?? {}).map(([name, means]) => query(name, means, flag, false)) : []),
    ...(row.answers.shape === 'search' ? toSearchParameters() : []),
    ...(Object.keys(fields).length > 0 && row.answers.shape !== 'nothing'
      ? [names('fields', 'Only these fields.', Object.keys(fields))]
      : []),
    ...(isRead && Object.keys(include).length > 0 ? [names('include', 'Related resources that come along.', Object.keys(include))] : []),
  ];
}

function toListParameters({ reads }: OperationRow, context: ReaderContext): Parameter[] {
  if (reads.kind !== 'list') return [];
  const { filter: input = '' } = reads.rule;
  const filters = readFilters(context.schema, reads.rule).map(({ parameter, field, type, description }): Parameter => {
    const schema = { ...toNonNullSchema(type), ...limitsOf({ input, name: field, type }) };
    const list = schema['type'] === 'array' ? ({ style: 'form', explode: false } as const) : {};
    return {
      name: parameter,
      in: 'query',
      description: description ?? parameter,
      schema: isInputObjectType(type) ? text : schema,
      example: exampleOf(schema, {}, parameter.replace(/_[gl]te$/, '')),
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
          query('order', 'The direction of `sort`, in place of minus signs.', { type: 'string', enum: ['asc', 'desc'] }, 'desc'),
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
    query('limit', 'How many on a page; goes with `page`, `offset` and `cursor`.', size, 10),
    query('page', `Which page, from 1. ${usual}`.trim(), { type: 'integer', minimum: 1, maximum: 10_000 }, 1),
    query('perPage', 'How many on a page; goes with `page`, and answers with `meta` and `links`.', size, 10),
    query('offset', 'How many to skip.', { type: 'integer', minimum: 0, maximum: 1_000_000 }, 0),
    query(
      'cursor',
      `Where to go on: \`nextCursor\` or \`prevCursor\` of an earlier page; empty for the start. ${cursorUsual}`.trim(),
      cursor,
      '',
    ),
    query('after', 'Another name for `cursor`.', cursor),
  ];
}

function toSearchParameters(): Parameter[] {
  return [
    {
      ...query('q', 'The words to look for.', { type: 'string', minLength: 1, maxLength: lengthAt(SEARCH).max }, 'bridge'),
      required: true,
    },
    names('type', 'Only these kinds.', KINDS),
    query('limit', 'How many on a page.', { type: 'integer', minimum: 1, maximum: 100, default: 10 }, 10),
    query('cursor', 'Where to go on: `nextCursor` of an earlier page.', cursor, ''),
    query('after', 'Another name for `cursor`.', cursor),
  ];
}

const SEARCH = { coordinate: 'Query.search(query:)', name: 'query', type: 'String' };

function query(name: string, description: string, schema: JsonSchema, example?: unknown): Parameter {
  return { name, in: 'query', description, schema, ...(example !== undefined && { example }) };
}

/** A comma-separated list of names; the names may also come each in a parameter of its own. */
function names(name: string, description: string, known: readonly string[]): Parameter {
  const schema = { type: 'array', items: { type: 'string', enum: known } };
  // `id` alone would show little.
  const example = known.slice(0, name === 'fields' ? 2 : 1);
  return { name, in: 'query', description, schema, style: 'form', explode: false, example };
}

function header(name: string, description: string, example: string, schema: JsonSchema = text): Parameter {
  return { name, in: 'header', description, schema, example };
}
