/** Finds aliases for fields that are added to a client's operation. */
import { type ASTNode, visit } from 'graphql';

/** Returns `wanted`, with as many underscores appended as it takes that no field below the node has this alias. */
export function unusedAlias(node: ASTNode, wanted: string): string {
  const used = new Set<string>();
  visit(node, {
    Field({ alias }) {
      if (alias) used.add(alias.value);
    },
  });
  let alias = wanted;
  while (used.has(alias)) alias += '_';
  return alias;
}
