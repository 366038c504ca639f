/** The custom scalars of spec §2.2. */
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { UploadedFile } from '../uploads/uploaded-file.ts';
import { formatDateTime, parseDateTime } from '../values/date-time.ts';

/** A date and time in UTC, serialized as `2026-01-31T12:00:00Z` (spec §2.1). Fractions of a second are accepted and cut off. */
export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  serialize: (value) => formatDateTime(value as Date),
  parseValue: parseDateTime,
  parseLiteral: (node) => parseDateTime(node.kind === Kind.STRING ? node.value : undefined),
});

/** Any JSON value. */
export const JSONScalar = new GraphQLScalarType({
  name: 'JSON',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => literalToJson(node, variables ?? {}),
});

/** A file of a GraphQL multipart request; it can be sent as a variable only. */
export const Upload = new GraphQLScalarType<UploadedFile, never>({
  name: 'Upload',
  parseValue: (value) => {
    if (value instanceof UploadedFile) return value;
    throw new GraphQLError('Upload must be a file of a multipart request.');
  },
  parseLiteral: () => {
    throw new GraphQLError('Upload must be sent as a variable.');
  },
  serialize: () => {
    throw new GraphQLError('Upload is an input only.');
  },
});

function literalToJson(node: ValueNode, variables: Readonly<Record<string, unknown>>): unknown {
  switch (node.kind) {
    case Kind.VARIABLE:
      return variables[node.name.value];
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.LIST:
      return node.values.map((value) => literalToJson(value, variables));
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, literalToJson(value, variables)]));
    case Kind.STRING:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return node.value;
  }
}
