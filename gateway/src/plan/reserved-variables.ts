/** Gives variables other names where a fetch has a variable of its own by that name. */
import { type OperationDefinitionNode, visit } from 'graphql';

/** The variable of the entities that a fetch asks for (Federation subgraph specification, `_entities`). */
const REPRESENTATIONS = 'representations';

export interface RenamedOperation {
  readonly operation: OperationDefinitionNode;
  /** New names by the client's names. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** Returns the operation, which holds no fragment spreads, with a name of its own for a variable `$representations`. */
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
