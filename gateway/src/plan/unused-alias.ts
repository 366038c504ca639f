/** Finds a name for what is selected besides what the client selects. */
import { type ASTNode, visit } from 'graphql';

/** Returns `wanted`, with underscores behind it until no field below the node has that alias. */
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
