/** Describes variables as plain data, so that the thread that serves can check them without a schema (GraphQL §6.1.2). */
import {
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  typeFromAST,
  valueFromAST,
} from 'graphql';
import type { InputField, InputType, VariableProgram } from '../execute/program.ts';

/** The document must be valid. */
export function describeVariables(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): VariableProgram[] {
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
    // Before its fields are looked at: an input type may hold itself.
    described.set(type, object);
    for (const field of Object.values(type.getFields()))
      fields.push({ name: field.name, type: describe(field.type), hasDefault: field.defaultValue !== undefined });
    return object;
  };
  return variableDefinitions.flatMap(({ variable, type, defaultValue }) => {
    const inputType = typeFromAST(schema, type) as GraphQLInputType | undefined;
    if (!inputType) return [];
    return [
      {
        name: variable.name.value,
        type: describe(inputType),
        hasDefault: defaultValue !== undefined,
        default: defaultValue && valueFromAST(defaultValue, inputType),
      },
    ];
  });
}
