/**
 * Renames aliases of clients that are response keys of the gateway's own, so that no alias changes what the gateway reads from fetched objects
 * (GraphQL §2.7: an alias names the field in the response, and nothing else).
 *
 * An object of the result has, beside what the client selects, what the planner adds: `__typename`, and the fields of keys and of `@requires`, which
 * representations are written from. The planner adds nothing else under a name that clients can choose: fields with arguments and fields of contexts
 * are stand-ins (`<name>__standIn0`), fields that would conflict within a fetch get an alias of the planner (`<key>__alias_0`), and our corrections
 * take aliases that the operation does not have. So it suffices to rename an alias that is the name of a field that any key or `@requires` of the
 * supergraph names, at any depth, or that contains one of these marks. The rule does not depend on where the alias stands. That makes it independent
 * of the planner's decisions about what it adds where, and of types that overlap.
 *
 * A field without an alias keeps its name: the client then selects what the planner would add. With arguments it is another field than a stand-in.
 */
import { type DocumentNode, type FieldNode, Kind, visit } from 'graphql';
import { RENAMED, toFetchKey } from '../../program/response-key.ts';

/** Contained in the name of each stand-in. */
export const STAND_IN = '__standIn';
/** Contained in response keys of the planner, of {@link toFetchKey}, and in names of stand-ins. */
const MARKS = ['__alias_', RENAMED, STAND_IN];

/** Returns the document with another alias, which `toResponseKey` restores, wherever a field has an alias that the gateway may use itself. */
export type RenameAliases = (document: DocumentNode) => DocumentNode;

/**
 * Returns the function for a supergraph with these names of fields in keys and `@requires`. Results of introspection do not come from subgraphs and
 * keep their aliases.
 */
export function createAliasRenaming(requiredNames: ReadonlySet<string>): RenameAliases {
  const isRenamed = ({ alias, name }: FieldNode) =>
    alias !== undefined &&
    alias.value !== name.value &&
    (alias.value === '__typename' || requiredNames.has(alias.value) || MARKS.some((mark) => alias.value.includes(mark)));
  return (document) => {
    let introspectionDepth = 0;
    return visit(document, {
      Field: {
        enter(field) {
          const renames = introspectionDepth === 0 && isRenamed(field);
          if (isIntrospection(field)) introspectionDepth++;
          return renames
            ? { ...field, alias: { ...field.alias, kind: Kind.NAME, value: toFetchKey(field.alias?.value ?? '') } }
            : undefined;
        },
        leave(field) {
          if (isIntrospection(field)) introspectionDepth--;
        },
      },
      FragmentDefinition: ({ typeCondition }) => (typeCondition.name.value.startsWith('__') ? false : undefined),
    });
  };
}

function isIntrospection({ name }: FieldNode): boolean {
  return name.value === '__schema' || name.value === '__type';
}
