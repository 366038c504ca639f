/** Renames variables of clients that have the name of a fetch's own variable. */
import { type OperationDefinitionNode, visit } from 'graphql';

/** The variable for the representations of a fetch (Federation subgraph specification, `_entities`). */
export const REPRESENTATIONS = 'representations';
/** That variable, and those of contextual arguments, also with the number of a group of entities. */
const RESERVED = /^(?:representations(?:_\d+)?|contextualArgument_\d.*)$/;

export interface RenamedOperation {
  readonly operation: OperationDefinitionNode;
  /** The new names, by the names in the client's document. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** Returns the operation, which holds no fragment spreads, with other names for reserved variables such as `$representations`. */
export function renameReserved(operation: OperationDefinitionNode): RenamedOperation {
  const names = new Set(operation.variableDefinitions?.map(({ variable }) => variable.name.value));
  const aliases = new Map<string, string>();
  for (const name of names) {
    if (!RESERVED.test(name)) continue;
    let alias = `client_${name}`;
    while (names.has(alias)) alias += '_';
    aliases.set(name, alias);
    names.add(alias);
  }
  if (aliases.size === 0) return { operation, aliases };
  return {
    operation: visit(operation, {
      Variable: (node) => {
        const alias = aliases.get(node.name.value);
        return alias === undefined ? undefined : { ...node, name: { ...node.name, value: alias } };
      },
    }),
    aliases,
  };
}
