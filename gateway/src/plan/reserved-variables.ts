/** Renames variables of clients that have the name of a fetch's own variable. */
import { type OperationDefinitionNode, visit } from 'graphql';

/** The variable for the representations of a fetch (Federation subgraph specification, `_entities`). */
const REPRESENTATIONS = 'representations';

export interface RenamedOperation {
  readonly operation: OperationDefinitionNode;
  /** The new names, by the names in the client's document. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** Returns the operation, which holds no fragment spreads, with another name for a variable `$representations`. */
export function renameReserved(operation: OperationDefinitionNode): RenamedOperation {
  const names = new Set(operation.variableDefinitions?.map(({ variable }) => variable.name.value));
  if (!names.has(REPRESENTATIONS)) return { operation, aliases: new Map() };
  let alias = `${REPRESENTATIONS}_`;
  while (names.has(alias)) alias += '_';
  return {
    operation: visit(operation, {
      Variable: (node) => (node.name.value === REPRESENTATIONS ? { ...node, name: { ...node.name, value: alias } } : undefined),
    }),
    aliases: new Map([[REPRESENTATIONS, alias]]),
  };
}
