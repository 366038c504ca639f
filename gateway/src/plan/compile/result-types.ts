/** Finds the types of which the result of an operation may have objects, by which caches keep results. */
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';

/** What is selected of the objects of a type. */
interface Selected {
  readonly type: GraphQLNamedType | undefined;
  readonly set: SelectionSetNode | undefined;
}

/** Returns the types of all fields with objects, and for an interface or a union its object types besides. The set has no fragment spreads. */
export function findResultTypes(schema: GraphQLSchema, root: Selected): string[] {
  const found = new Set<string>();
  const open = [root];
  for (let next = open.pop(); next; next = open.pop()) {
    const { type, set } = next;
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition?.name.value;
        open.push({ type: condition === undefined ? type : schema.getType(condition), set: selection.selectionSet });
      } else if (selection.kind === Kind.FIELD) {
        const named = toFieldType(type, selection.name.value);
        if (!isCompositeType(named)) continue;
        found.add(named.name);
        if (isAbstractType(named)) for (const { name } of schema.getPossibleTypes(named)) found.add(name);
        open.push({ type: named, set: selection.selectionSet });
      }
    }
  }
  return [...found];
}

function toFieldType(type: GraphQLNamedType | undefined, name: string): GraphQLNamedType | undefined {
  const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
  return field && getNamedType(field.type);
}
