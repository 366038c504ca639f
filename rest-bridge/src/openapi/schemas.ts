/** JSON Schema (2020-12, as OpenAPI 3.1 has it) of resources and inputs, from the GraphQL types behind them. No I/O. */
import {
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';

import { limitsOf } from './limits.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
};

export const LINK: JsonSchema = {
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
    return [field.name, { ...(field.description != null && { description: field.description }), ...toFieldSchema(type.name, field) }];
  });
  return {
    type: 'object',
    ...(type.description != null && { description: type.description }),
    properties: Object.fromEntries(properties),
    required: fields.filter(isRequiredInputField).map(({ name }) => name),
  };
}

/** The schema of a field of an input, with what limits its values; null only where the type allows it. */
export function toFieldSchema(input: string, { name, type }: Pick<GraphQLInputField, 'name' | 'type'>): JsonSchema {
  const shown = WHOLE_IDS.has(name) ? WHOLE_ID : toSchema(type);
  return { ...shown, ...limitsOf({ input, name, type }) };
}

/** As a number; text is taken as well, since every id may be sent as text. */
const WHOLE_ID: JsonSchema = { type: ['integer', 'string'], minimum: 1, maximum: 2_147_483_647 };

/** Products have whole numbers for ids (contract §2). */
export const WHOLE_IDS: ReadonlySet<string> = new Set(['productId']);
