/** Estimates how many objects introspection fields return, from the numbers of types, fields and arguments that the schema has. */
import { type GraphQLSchema, getNamedType, isEnumType, isInputObjectType, isInterfaceType, isObjectType, isUnionType } from 'graphql';
import type { GuardedSet, Selections } from '../selections/selection.ts';

/** The share of type references that wrap another one (`ofType`): most are non-null, many lists. */
const WRAPPED_SHARE = 0.6;

/** Returns the mean number of values of each field of the introspection types, by coordinate. */
export type IntrospectionSizes = ReadonlyMap<string, number>;

export function measureIntrospection(schema: GraphQLSchema): IntrospectionSizes {
  const types = Object.values(schema.getTypeMap());
  const count = { fields: 0, arguments: 0, inputFields: 0, enumValues: 0, interfaces: 0, possibleTypes: 0 };
  for (const type of types) {
    if (isObjectType(type) || isInterfaceType(type)) {
      const fields = Object.values(type.getFields());
      count.fields += fields.length;
      for (const { args } of fields) count.arguments += args.length;
      count.interfaces += type.getInterfaces().length;
    }
    if (isInterfaceType(type) || isUnionType(type)) count.possibleTypes += schema.getPossibleTypes(type).length;
    if (isInputObjectType(type)) count.inputFields += Object.keys(type.getFields()).length;
    if (isEnumType(type)) count.enumValues += type.getValues().length;
  }
  const directives = schema.getDirectives();
  const directiveArguments = directives.reduce((sum, { args }) => sum + args.length, 0);
  return new Map([
    ['__Schema.types', types.length],
    ['__Schema.directives', directives.length],
    ['__Type.fields', count.fields / types.length],
    ['__Type.inputFields', count.inputFields / types.length],
    ['__Type.enumValues', count.enumValues / types.length],
    ['__Type.interfaces', count.interfaces / types.length],
    ['__Type.possibleTypes', count.possibleTypes / types.length],
    ['__Type.ofType', WRAPPED_SHARE],
    ['__Field.args', count.arguments / Math.max(1, count.fields)],
    ['__Directive.args', directiveArguments / Math.max(1, directives.length)],
  ]);
}

export interface IntrospectionCostInput {
  readonly schema: GraphQLSchema;
  readonly sizes: IntrospectionSizes;
  readonly selections: Selections;
  /** The operation's root selection set. */
  readonly sets: readonly GuardedSet[];
  readonly root: string;
}

/** Returns the expected number of objects, each of cost 1 like any other object; 0 for an operation without introspection. */
export function estimateIntrospection({ schema, sizes, selections, sets, root }: IntrospectionCostInput): number {
  const objectsOf = (type: string, guarded: readonly GuardedSet[]): number => {
    const found = schema.getType(type);
    if (!isObjectType(found)) return 0;
    let sum = 0;
    for (const field of selections.collect(found, guarded)) {
      const below = field.name === '__schema' ? '__Schema' : field.name === '__type' ? '__Type' : undefined;
      if (type === root ? below === undefined : field.sets.length === 0) continue;
      const of = below ?? (field.type && getNamedType(field.type).name) ?? '';
      sum += (sizes.get(`${type}.${field.name}`) ?? 1) * (1 + objectsOf(of, field.sets));
    }
    return sum;
  };
  return Math.ceil(objectsOf(root, sets));
}
