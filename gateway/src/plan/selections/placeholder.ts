/** A field that no client selected, for selection sets that would be empty without it. */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  TypeInfo,
  getNamedType,
  isInterfaceType,
  isLeafType,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { unusedAlias } from './unused-alias.ts';

interface Placeholder extends FieldNode {
  readonly isPlaceholder: true;
}

/** Selects `__typename`. Copies of it are placeholders too. */
export const PLACEHOLDER: Placeholder = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' }, isPlaceholder: true };

export function isPlaceholder(node: object): boolean {
  return 'isPlaceholder' in node;
}

const ALIAS = '__key';

export interface KeyFields {
  readonly schema: GraphQLSchema;
  /** Keys that are a single field, by the name of the interface that some subgraph defines as `@interfaceObject`. */
  readonly interfaceKeys: ReadonlyMap<string, readonly string[]>;
}

/**
 * Returns the operation, which holds no fragment spreads, with a key field in the place of each placeholder in a selection set of an interface
 * object: the subgraph of an interface object knows the key of an object and not its type. Returns undefined when there is no such placeholder.
 */
export function selectKeysInstead(document: DocumentNode, { schema, interfaceKeys }: KeyFields): DocumentNode | undefined {
  const alias = { kind: Kind.NAME, value: unusedAlias(document, ALIAS) } as const;
  const types = new TypeInfo(schema);
  const replaced: FieldNode[] = [];
  const changed = visit(
    document,
    visitWithTypeInfo(types, {
      Field(field): FieldNode | undefined {
        const parent = types.getParentType();
        if (!isPlaceholder(field) || !isInterfaceType(parent)) return undefined;
        const fields = parent.getFields();
        const key = interfaceKeys.get(parent.name)?.find((name) => fields[name] && isLeafType(getNamedType(fields[name].type)));
        if (key === undefined) return undefined;
        replaced.push(field);
        return { kind: Kind.FIELD, alias, name: { kind: Kind.NAME, value: key } };
      },
    }),
  );
  return replaced.length > 0 ? changed : undefined;
}
