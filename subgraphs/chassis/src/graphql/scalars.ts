/** The custom scalars of spec §2.2. */
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';

/** From the year 1 on: ISO 8601 has a year 0, PostgreSQL has none. */
const ISO_UTC = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

/** A moment in UTC; leaves as `2026-01-31T12:00:00Z` (spec §2.1). Fractions of a second are understood, and cut. */
export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  serialize: (value) => formatDateTime(value as Date),
  parseValue: readDateTime,
  parseLiteral: (node) => readDateTime(node.kind === Kind.STRING ? node.value : undefined),
});

/** Any JSON value. */
export const JSONScalar = new GraphQLScalarType({
  name: 'JSON',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => literalToJson(node, variables ?? {}),
});

/** Writes a moment as clients see it: ISO 8601, UTC, to the second. */
export function formatDateTime(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** Reads what a client sent. Throws a GraphQLError, which graphql-js reports at the value's place. */
export function readDateTime(value: unknown): Date {
  const date = typeof value === 'string' && ISO_UTC.test(value) ? new Date(value) : undefined;
  // A day that the calendar lacks rolls over: what comes out must begin as what went in.
  if (!date || Number.isNaN(date.getTime()) || date.toISOString().slice(0, 19) !== String(value).slice(0, 19)) {
    throw new GraphQLError('DateTime must be a moment in UTC such as 2026-01-31T12:00:00Z');
  }
  date.setUTCMilliseconds(0);
  return date;
}

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
