/** JSON Schema (2020-12, as OpenAPI 3.1 has it) of resources and inputs, from the GraphQL types behind them. No I/O. */
import {
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
} from 'graphql';
import type { Inclusion, Resource } from '../reply/resource.ts';
import type { ReaderContext } from '../query/reading.ts';
import { resourceAt } from '../versions/transform.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
};

const LINK: JsonSchema = {
  type: 'object',
  properties: { href: { type: 'string' }, method: { type: 'string', description: 'GET when absent.' } },
  required: ['href'],
};

/** The schemas that stand for themselves, whatever the rows. */
export const COMMON_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Money: {
    type: 'object',
    description: 'An amount of money.',
    properties: {
      amount: { type: 'integer', format: 'int32', description: 'In the smallest unit of the currency.' },
      currency: { type: 'string', description: 'Three capital letters (ISO 4217).', minLength: 3, maxLength: 3 },
    },
    required: ['amount', 'currency'],
  },
  PartialErrors: {
    type: 'array',
    description: 'What could not be had of the related resources; the rest is there.',
    items: {
      type: 'object',
      properties: { field: { type: 'string' }, code: { type: 'string' }, message: { type: 'string' } },
      required: ['field', 'code', 'message'],
    },
  },
};

/** The schema of a GraphQL type as REST shows and takes it: enums in lower case, null only where it is allowed. */
export function toSchema(type: GraphQLOutputType | GraphQLInputType): JsonSchema {
  if (isNonNullType(type)) return toNonNullSchema(type.ofType);
  const { type: name, ...rest } = toNonNullSchema(type);
  return { type: [name, 'null'], ...rest, ...(Array.isArray(rest['enum']) && { enum: [...(rest['enum'] as string[]), null] }) };
}

/** As `toSchema`, for a value that is never null. */
export function toNonNullSchema(type: GraphQLOutputType | GraphQLInputType): JsonSchema {
  if (isNonNullType(type)) return toNonNullSchema(type.ofType);
  if (isListType(type)) return { type: 'array', items: toSchema(type.ofType as GraphQLInputType) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name.toLowerCase()) };
  const named = getNamedType(type);
  return isInputObjectType(named) ? toInputSchema(named) : (SCALARS[named.name] ?? { type: 'object' });
}

/** An input within a body, e.g. one of the items of an order; ids that REST shows as numbers are taken as such. */
function toInputSchema(type: GraphQLInputObjectType): JsonSchema {
  const fields = Object.values(type.getFields());
  const properties = fields.map((field) => {
    const shown = WHOLE_IDS.has(field.name) ? { type: ['integer', 'string'] } : toSchema(field.type);
    return [field.name, { ...(field.description != null && { description: field.description }), ...shown }];
  });
  return {
    type: 'object',
    ...(type.description != null && { description: type.description }),
    properties: Object.fromEntries(properties),
    required: fields.filter(isRequiredInputField).map(({ name }) => name),
  };
}

/** Products have whole numbers for ids (contract §2). */
export const WHOLE_IDS: ReadonlySet<string> = new Set(['productId']);

/** Nothing is required: `fields` may leave out anything. */
export function toResourceSchema({ schema, version }: ReaderContext, original: Resource): JsonSchema {
  const resource = resourceAt(original, version);
  const type = schema.getType(resource.type);
  const graphql = isObjectType(type) ? type.getFields() : {};
  const fields = Object.entries(resource.fields).map(([name, view]) => {
    const field = graphql[/^\w+/.exec(view.select)?.[0] ?? ''];
    const description = field?.description == null ? {} : { description: field.description };
    const shown = view.schema ?? (field ? toSchema(field.type) : {});
    return [name, '$ref' in shown ? shown : { ...description, ...shown }];
  });
  const included = Object.entries(resource.include)
    .filter(([name]) => !Object.hasOwn(resource.fields, name))
    .map(([name, inclusion]) => [name, toInclusionSchema(schema, { resource, name, inclusion })]);
  return {
    type: 'object',
    ...(isObjectType(type) && type.description != null && { description: type.description }),
    properties: {
      ...Object.fromEntries(fields),
      ...Object.fromEntries(included),
      _masked: { type: 'array', items: { type: 'string' }, description: 'The fields that show a mask instead of their value.' },
      ...(resource.links && { _links: { type: 'object', description: 'Where to go from here.', additionalProperties: LINK } }),
      _errors: { $ref: '#/components/schemas/PartialErrors' },
    },
  };
}

interface InclusionPlace {
  readonly resource: Resource;
  readonly name: string;
  readonly inclusion: Inclusion;
}

function toInclusionSchema(schema: GraphQLSchema, { resource, name, inclusion }: InclusionPlace): JsonSchema {
  const type = schema.getType(resource.type);
  const field: GraphQLField<unknown, unknown> | undefined = isObjectType(type) ? type.getFields()[name] : undefined;
  const one = { $ref: `#/components/schemas/${inclusion.resource().type}` };
  const description = `Only with \`include=${name}\`.`;
  const named = field && getNamedType(field.type).name;
  const isMany = field && (isListType(isNonNullType(field.type) ? field.type.ofType : field.type) || named?.endsWith('Connection'));
  return isMany ? { type: ['array', 'null'], description, items: one } : { description, anyOf: [one, { type: 'null' }] };
}
