/** Describes variables as plain data, so that the serving thread can check them without a schema (GraphQL §6.1.2). */
import {
  type ASTNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  typeFromAST,
  valueFromAST,
  visit,
} from 'graphql';
import type { InputField, InputType, Location, VariableProgram } from '../../program/program.ts';
import { readConditions } from './selection.ts';

export interface VariableFacts {
  /** The document's fragments. Those that the operation spreads may have conditions too. */
  readonly fragments: readonly FragmentDefinitionNode[];
  /** The names of variables in fetches, by their names in the client's document. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** Returns the variables that the operation declares; its document must be valid. */
export function describeVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  { fragments, aliases }: VariableFacts,
): VariableProgram[] {
  const { variableDefinitions = [] } = operation;
  const conditions = findConditions(operation, new Map(fragments.map((each) => [each.name.value, each])));
  const described = new Map<GraphQLInputType, InputType>();
  const describe = (type: GraphQLInputType): InputType => {
    if (isNonNullType(type)) return { kind: 'nonNull', of: describe(type.ofType) };
    if (isListType(type)) return { kind: 'list', of: describe(type.ofType) };
    const known = described.get(type);
    if (known) return known;
    if (!isInputObjectType(type)) {
      const leaf: InputType = isEnumType(type)
        ? { kind: 'enum', name: type.name, values: type.getValues().map(({ name }) => name) }
        : { kind: 'scalar', name: (type as { name: string }).name };
      described.set(type, leaf);
      return leaf;
    }
    const fields: InputField[] = [];
    const object: InputType = { kind: 'object', name: type.name, isOneOf: type.isOneOf, fields };
    // Before its fields are described: an input type may refer to itself.
    described.set(type, object);
    for (const field of Object.values(type.getFields()))
      fields.push({ name: field.name, type: describe(field.type), hasDefault: field.defaultValue !== undefined });
    return object;
  };
  return variableDefinitions.flatMap((definition) => {
    const { variable, type, defaultValue } = definition;
    const inputType = typeFromAST(schema, type) as GraphQLInputType | undefined;
    if (!inputType) return [];
    return [
      {
        name: variable.name.value,
        type: describe(inputType),
        hasDefault: defaultValue !== undefined,
        default: defaultValue && valueFromAST(defaultValue, inputType),
        isCondition: conditions.has(variable.name.value),
        alias: aliases.get(variable.name.value),
        location: locationOf(definition),
      },
    ];
  });
}

/** Returns where a node of a parsed document begins. */
export function locationOf({ loc }: ASTNode): Location | undefined {
  return loc && { line: loc.startToken.line, column: loc.startToken.column };
}

/**
 * Returns the names of the variables on which `@skip` and `@include` depend in the operation and in the fragments that it spreads, directly or not:
 * fragments of other operations may use other variables of the same names.
 */
function findConditions(operation: OperationDefinitionNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): ReadonlySet<string> {
  const names = new Set<string>();
  const reached = new Set<OperationDefinitionNode | FragmentDefinitionNode>([operation]);
  const look = (node: SelectionNode) => {
    const conditions = readConditions(node);
    if (conditions !== 'never') for (const { variable } of conditions) names.add(variable);
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : undefined;
    if (fragment) reached.add(fragment);
  };
  // A set is iterated with what is added meanwhile.
  for (const definition of reached) visit(definition, { Field: look, FragmentSpread: look, InlineFragment: look });
  return names;
}
