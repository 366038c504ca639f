/** Finds the fragments that the removal of an object type makes invalid, though no operation names it. */
import { type GraphQLSchema, doTypesOverlap, isInterfaceType, isObjectType } from 'graphql';
import { spreadUse } from './use-keys.ts';

/** The schemas before and after. */
export interface Compared {
  readonly from: GraphQLSchema;
  readonly to: GraphQLSchema;
}

/**
 * Returns the keys of spreads between two interfaces that had the removed type in common and have none any more (GraphQL specification §5.5.2.3). Unions
 * need none: that they lose a member is a change of its own.
 */
export function findBrokenSpreads(removed: string, { from, to }: Compared): string[] {
  const type = from.getType(removed);
  if (!isObjectType(type)) return [];
  const interfaces = type.getInterfaces().flatMap(({ name }) => {
    const kept = to.getType(name);
    return isInterfaceType(kept) ? [kept] : [];
  });
  return interfaces.flatMap((one, at) =>
    interfaces.slice(at + 1).flatMap((other) => (doTypesOverlap(to, one, other) ? [] : [spreadUse(one.name, other.name)])),
  );
}
