/** Request bodies, and the envelopes that answers stand in. No I/O. */
import { lengthOf } from '@trestle/schema/lengths';
import { getNullableType, isInputObjectType } from 'graphql';
import { acceptedTypes } from '../http/body.ts';
import { readableFields } from '../query/body.ts';
import { defaultPaging } from '../query/paging.ts';
import { KINDS } from '../query/search.ts';
import type { ReaderContext } from '../query/reading.ts';
import { toIndex } from '../reply/index-page.ts';
import type { OperationRow, Row } from '../routes/row.ts';
import { moneyInputs } from '../versions/transform.ts';
import { type Components, exampleOfInput, searchExample } from './examples.ts';
import { type JsonSchema, WHOLE_IDS, toFieldSchema } from './schemas.ts';

const text: JsonSchema = { type: 'string' };
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

/** The body that a row takes; undefined for one that takes none. */
export function toRequestBody(row: Row, context: ReaderContext, components: Components): JsonSchema | undefined {
  if (!('operation' in row)) return undefined;
  const schema = toBodySchema(row, context);
  if (!schema) return undefined;
  const input = row.reads.kind === 'body' ? row.reads.rule.input : '';
  const media = { schema, example: exampleOfInput(input, schema, components) };
  const types = acceptedTypes(row.method).split(', ');
  return { required: true, content: Object.fromEntries(types.map((type) => [type, media])) };
}

function toBodySchema({ reads, answers }: OperationRow, context: ReaderContext): JsonSchema | undefined {
  if (answers.shape === 'login') {
    const { email, password } = LOGIN;
    return all({ email, password });
  }
  if (reads.kind !== 'body') return undefined;
  const { rule } = reads;
  const { fields, mustHave } = readableFields(context, rule);
  const money = moneyInputs(rule.input, context.version);
  const properties = [...fields.values()]
    .filter(({ name }) => !money.some(({ currency }) => currency === name))
    .map(({ name, type, description, defaultValue }) => {
      if (money.some(({ field }) => field === name)) return [name, { $ref: '#/components/schemas/Money' }];
      const isClearable = rule.mode === 'create' || CLEARABLE.has(name);
      const shown = toFieldSchema(rule.input, { name, type: isClearable ? type : getNullableType(type) });
      const sent = isClearable || WHOLE_IDS.has(name) ? shown : withoutNull(shown);
      const usual = defaultValue === undefined ? {} : { default: defaultValue };
      return [name, { ...(description != null && { description }), ...sent, ...lowered(usual, sent) }];
    });
  const type = context.schema.getType(rule.input);
  const description = isInputObjectType(type) ? type.description : undefined;
  return {
    type: 'object',
    ...(description != null && { description }),
    properties: Object.fromEntries(properties),
    ...(mustHave.length > 0 && { required: mustHave }),
  };
}

const LOGIN = {
  email: { type: 'string', format: 'email', maxLength: lengthOf('Mutation.login(email:)').max },
  password: { type: 'string', format: 'password', maxLength: lengthOf('Mutation.login(password:)').max },
} as const;

/** What a change may set to null; the subgraph refuses it of all else. */
const CLEARABLE: ReadonlySet<string> = new Set(['bio', 'age']);

/** A field that may be left out, and can't be null. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const type = [schema['type']].flat().filter((name) => name !== 'null');
  const values = schema['enum'] as unknown[] | undefined;
  return { ...schema, type: type.length === 1 ? type[0] : type, ...(values && { enum: values.filter((value) => value !== null) }) };
}

/** Defaults of enums are shown as their values are: in lower case. */
function lowered(usual: { readonly default?: unknown }, shown: JsonSchema): JsonSchema {
  return Array.isArray(shown['enum']) && typeof usual.default === 'string' ? { default: usual.default.toLowerCase() } : usual;
}

const INDEX: JsonSchema = {
  ...all({
    name: text,
    description: text,
    _links: { type: 'object', additionalProperties: all({ href: text, title: text }) },
  }),
  examples: [toIndex({ bridge: 'https://api.example.com', gateway: 'https://graphql.example.com/graphql', prefix: '/v1' })],
};

/** What a successful answer shows; undefined for one without a body. */
export function toAnswerSchema(row: Row, resource: JsonSchema, version: number): JsonSchema | undefined {
  switch (row.answers.shape) {
    case 'resource':
      return resource;
    case 'list':
      return toListSchema(resource, version);
    case 'parts':
      return all({ data: { type: 'array', items: resource } });
    case 'login':
      return all({ accessToken: text, tokenType: text, expiresIn: { type: 'integer', description: 'In seconds.' }, user: resource });
    case 'search':
      return toSearchSchema();
    case 'document':
      return row.path === '/' ? INDEX : row.path.endsWith('.json') ? { type: 'object' } : text;
    case 'redirect':
      return { $ref: `#/components/schemas/${row.answers.leadsTo.type}` };
    case 'nothing':
    case 'announced':
      return undefined;
  }
}

function toListSchema(resource: JsonSchema, version: number): JsonSchema {
  const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
  // The usual one first.
  const variants =
    defaultPaging(version) === 'page'
      ? ['PagePagination', 'CursorPagination', 'OffsetPagination']
      : ['CursorPagination', 'PagePagination', 'OffsetPagination'];
  return {
    type: 'object',
    properties: {
      data: { type: 'array', items: resource },
      pagination: { anyOf: variants.map(reference) },
      meta: { ...reference('PageMeta'), description: 'With `perPage`, in place of `pagination`.' },
      links: { ...reference('PageLinks'), description: 'With `perPage`.' },
      _errors: reference('PartialErrors'),
    },
    required: ['data'],
  };
}

function toSearchSchema(): JsonSchema {
  const self = all({ self: all({ href: text }) });
  const shown = {
    type: { type: 'string', enum: KINDS },
    id: text,
    name: text,
    bio: { type: ['string', 'null'] },
    title: text,
    status: text,
    body: text,
    postId: text,
    _links: self,
  };
  const result = { type: 'object', properties: shown, required: ['type', 'id', '_links'] };
  return {
    type: 'object',
    properties: {
      data: { type: 'array', items: result },
      pagination: { $ref: '#/components/schemas/CursorPagination' },
      _errors: { $ref: '#/components/schemas/PartialErrors' },
    },
    required: ['data', 'pagination'],
    examples: [searchExample()],
  };
}

/** An object that always has all of these. */
function all(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties) };
}
