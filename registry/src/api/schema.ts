/** The executable schema of registry.graphql, with what all our GraphQL servers enforce. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { applyArgumentChecks } from '@trestle/chassis/graphql/argument-checks';
import { applyResultLimits } from '@trestle/chassis/graphql/result-limits';
import { DateTime } from '@trestle/chassis/graphql/scalars';
import { type GraphQLFieldResolver, type GraphQLSchema, buildSchema, isObjectType, isScalarType } from 'graphql';
import { resolvers } from './resolvers.ts';

/** Where the SDL is, from `src` and from `dist`. */
const FILE = fileURLToPath(new URL('../../registry.graphql', import.meta.url));

/** Returns the SDL of the registry's API, as written in its file. */
export function readRegistrySdl(): string {
  return readFileSync(FILE, 'utf8');
}

/** Creates the schema. Throws at start for a resolver that fits no field. */
export function createRegistrySchema(): GraphQLSchema {
  const schema = buildSchema(readRegistrySdl());
  const dateTime = schema.getType('DateTime');
  if (isScalarType(dateTime)) {
    const { serialize, parseValue, parseLiteral } = DateTime;
    Object.assign(dateTime, { serialize, parseValue, parseLiteral });
  }
  for (const [typeName, fields] of Object.entries(resolvers)) {
    for (const [fieldName, resolve] of Object.entries(fields)) {
      const type = schema.getType(typeName);
      const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
      if (!field) throw new Error(`registry.graphql has no field ${typeName}.${fieldName}`);
      field.resolve = resolve as GraphQLFieldResolver<unknown, unknown>;
    }
  }
  applyArgumentChecks(schema);
  applyResultLimits(schema);
  return schema;
}
