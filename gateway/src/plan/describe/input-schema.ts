/** Writes the JSON Schema of a GraphQL input type (GraphQL §3.12, JSON Schema 2020-12). Types that nest are written out, to a depth. */
import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
  astFromValue,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  valueFromASTUntyped,
} from 'graphql';
import type { JsonSchema } from '../../request/operation-description.ts';

const MAX_DESCRIPTION = 1000;
/** Values of an enum beyond this number are not listed. */
const MAX_VALUES = 200;

const MAX_INT = 2 ** 31 - 1;

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  Int: { type: 'integer', minimum: -MAX_INT - 1, maximum: MAX_INT },
  Float: { type: 'number' },
  String: { type: 'string' },
  Boolean: { type: 'boolean' },
  ID: { type: 'string' },
};

/** Returns the schema of a type. Input objects below `depth` others are objects of any content. A type that is not non-null also allows null. */
export function toInputSchema(type: GraphQLInputType, depth: number): JsonSchema {
  return isNonNullType(type) ? toNonNull(type.ofType, depth) : allowNull(toNonNull(type, depth));
}

/** Returns a description of at most 1000 characters; undefined for none. */
export function toDescription(...parts: readonly (string | null | undefined)[]): string | undefined {
  const text = parts
    .map((part) => part?.trim())
    .filter(Boolean)
    .join('\n');
  if (text === '') return undefined;
  return text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION - 1)}…` : text;
}

/** Returns the schema with a description in place of its own, if there is one. */
export function describe(schema: JsonSchema, description: string | undefined): JsonSchema {
  return description === undefined ? schema : { ...schema, description };
}

function toNonNull(type: GraphQLInputType, depth: number): JsonSchema {
  if (isListType(type)) return { type: 'array', items: toInputSchema(type.ofType, depth) };
  if (isEnumType(type)) return toEnum(type);
  if (isInputObjectType(type)) return toObject(type, depth);
  return SCALARS[type.name] ?? toCustomScalar(type);
}

function toCustomScalar({ name, description, specifiedByURL }: GraphQLScalarType): JsonSchema {
  return describe({}, toDescription(`The scalar ${name}.`, description, specifiedByURL && `Its format: ${specifiedByURL}`));
}

function toEnum(type: GraphQLEnumType): JsonSchema {
  const values = type.getValues();
  const meanings = values.flatMap(({ name, description }) => (description ? [`${name}: ${description}`] : []));
  const described = describe({ type: 'string' }, toDescription(type.description, ...meanings));
  return values.length > MAX_VALUES ? described : { ...described, enum: values.map(({ name }) => name) };
}

function toObject(type: GraphQLInputObjectType, depth: number): JsonSchema {
  const description = toDescription(type.description);
  if (depth === 0) return describe({ type: 'object' }, toDescription(`The input object ${type.name}.`, type.description));
  const fields = Object.values(type.getFields());
  const properties = fields.map((field) => {
    const schema = describe(toInputSchema(field.type, depth - 1), toDescription(field.description, toDeprecation(field.deprecationReason)));
    const value = field.defaultValue === undefined ? undefined : astFromValue(field.defaultValue, field.type);
    return [field.name, value ? { ...schema, default: valueFromASTUntyped(value) } : schema] as const;
  });
  const required = fields.filter(isRequiredInputField).map(({ name }) => name);
  return describe(
    {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
      // @oneOf (GraphQL §3.10.1)
      ...(type.isOneOf && { minProperties: 1, maxProperties: 1 }),
      additionalProperties: false,
    },
    description,
  );
}

function toDeprecation(reason: string | null | undefined): string | undefined {
  return reason ? `Deprecated: ${reason}` : undefined;
}

/** Returns the schema that allows null too. One without a type allows everything. */
function allowNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  if (type === undefined) return schema;
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }) };
}
