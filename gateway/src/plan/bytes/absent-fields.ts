/** Describes what the result has where an entity, or all data of a fetch, is missing (GraphQL §6.4.4). */
import { type GraphQLObjectType, isNonNullType } from 'graphql';
import type { AbsentField, Hole } from '../../program/bytes-program.ts';
import type { FieldPosition } from '../selections/field-positions.ts';
import { toConjunction } from './requested-object.ts';

/** A list or an object on the way to a place. */
export interface PathSegment {
  /** A response key, or `@` for each element of a list. */
  readonly key: string;
  /** The type of the object there; undefined for a list. */
  readonly type: string | undefined;
  readonly isNullable: boolean;
}

/** The client's fields at one place that one fetch provides. */
export interface ProvidedFields {
  readonly positions: readonly FieldPosition[];
  /** Whether another fetch has one of them, too, such as one that is sent under other conditions. */
  readonly isShared: boolean;
}

/**
 * Returns what a hole has without its fetch. Nothing may be left out for shared fields: then the other fetch has them. Throws Unsupported.
 */
export function describeFields(type: GraphQLObjectType, { positions, isShared }: ProvidedFields): Pick<Hole, 'isOptional' | 'absent'> {
  if (isShared) return { isOptional: false, absent: undefined };
  const isOptional = positions.every(({ field, when }) => field.name !== '__typename' && toConjunction(when).length > 0);
  return { isOptional, absent: toAbsentFields(type, positions) };
}

function toAbsentFields(type: GraphQLObjectType, positions: readonly FieldPosition[]): AbsentField[] {
  return positions.map(({ field, when }) => {
    const key = JSON.stringify(field.key);
    const conditions = toConjunction(when);
    if (field.name === '__typename')
      return { text: `${key}:${JSON.stringify(type.name)}`, key: undefined, when: conditions, fault: undefined };
    const fault = isNonNullType(field.type) ? `Cannot return null for non-nullable field ${type.name}.${field.name}.` : undefined;
    return { text: `${key}:null`, key: field.key, when: conditions, fault };
  });
}

/** Returns what becomes null when an object must not have one of its fields as null. `path` leads to the object from the top of its response. */
export function findNullable(path: readonly PathSegment[]): Pick<Hole, 'below' | 'isNullable'> {
  const nearest = path.findLastIndex(({ isNullable }) => isNullable);
  return nearest < 0 ? { below: path.length, isNullable: false } : { below: path.length - 1 - nearest, isNullable: true };
}
