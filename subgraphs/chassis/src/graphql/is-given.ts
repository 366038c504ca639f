/** Distinguishes an argument that the client sent from the default of the schema. No I/O. */
import { type GraphQLResolveInfo, Kind } from 'graphql';

/** Returns whether the client sent the argument. */
export function isGiven({ fieldNodes: [node], variableValues }: GraphQLResolveInfo, name: string): boolean {
  const value = node?.arguments?.find((argument) => argument.name.value === name)?.value;
  return value !== undefined && (value.kind !== Kind.VARIABLE || Object.hasOwn(variableValues, value.name.value));
}
