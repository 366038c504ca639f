/** JSON Schemas (2020-12, as in OpenAPI 3.1) of GraphQL types. No I/O. */
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

import { limitsOf } from '../query/limits.ts';
import { INTEGER_IDS } from '../query/values.ts';

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
};

/** The schema of a link. */
export const LINK: JsonSchema = {
  type: 'object',
  properties: { href: { type: 'string' }, method: { type: 'string', description: 'The method; GET by default.' } },
  required: ['href'],
};

/** The schemas that do not depend on routes. */
export const COMMON_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Money: {
    type: 'object',
    description: 'An amount of money in a currency.',
    properties: {
      amount: { type: 'integer', format: 'int32', description: 'The amount in the minor unit of the currency, such as cents.' },
      currency: { type: 'string', description: 'The currency code (ISO 4217).', minLength: 3, maxLength: 3 },
    },
    required: ['amount', 'currency'],
  },
  PartialErrors: {
    type: 'array',
    description: 'The related resources that failed. The rest of the response is complete.',
    items: {
      type: 'object',
      properties: { field: { type: 'string' }, code: { type: 'string' }, message: { type: 'string' } },
      required: ['field', 'code', 'message'],
    },
  },
};

/** Returns the schema of a GraphQL type in REST: enums in lower case, and null only for nullable types. */
export function toSchema(type: GraphQLOutputType | GraphQLInputType): JsonSchema {
  if (isNonNullType(type)) return toNonNullSchema(type.ofType);
  const { type: name, ...rest } = toNonNullSchema(type);
  return { type: [name, 'null'], ...rest, ...(Array.isArray(rest['enum']) && { enum: [...(rest['enum'] as string[]), null] }) };
}

/** Returns the schema of a GraphQL type without null. */
export function toNonNullSchema(type: GraphQLOutputType | GraphQLInputType): JsonSchema {
  if (isNonNullType(type)) return toNonNullSchema(type.ofType);
  if (isListType(type)) return { type: 'array', items: toSchema(type.ofType as GraphQLInputType) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name.toLowerCase()) };
  const named = getNamedType(type);
  return isInputObjectType(named) ? toInputSchema(named) : (SCALARS[named.name] ?? { type: 'object' });
}

/** Returns the schema of a nested input, such as an item of an order. */
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
    additionalProperties: false,
  };
}

/** Returns the schema of a field of an input with its limits. */
export function toFieldSchema(input: string, { name, type }: Pick<GraphQLInputField, 'name' | 'type'>): JsonSchema {
  const shown = INTEGER_IDS.has(name) ? INTEGER_ID : toSchema(type);
  return { ...shown, ...limitsOf({ coordinate: `${input}.${name}`, name, type }) };
}

/** An id that is an integer. A string is accepted too. */
const INTEGER_ID: JsonSchema = { type: ['integer', 'string'], minimum: 1, maximum: 2_147_483_647 };
