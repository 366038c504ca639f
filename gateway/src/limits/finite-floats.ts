/** Refuses literals of Float that are no finite number (GraphQL §3.5.2), which graphql-js accepts. */
import { type ASTVisitor, type FloatValueNode, GraphQLError, type IntValueNode, type ValidationContext, getNamedType } from 'graphql';

/** A validation rule. */
export function finiteFloats(context: ValidationContext): ASTVisitor {
  const check = (node: IntValueNode | FloatValueNode) => {
    const type = context.getInputType();
    if (!type || getNamedType(type).name !== 'Float' || Number.isFinite(Number(node.value))) return;
    const argument = context.getArgument();
    const of = argument ? ` of the argument "${argument.name}"` : '';
    context.reportError(
      new GraphQLError(`Float cannot represent the value${of}: it is beyond the largest finite number.`, { nodes: node }),
    );
  };
  return { IntValue: check, FloatValue: check };
}
