/** Describes the operations of a document for agents: a name, what they do, and the JSON Schema of their variables (ADR 33). */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  TokenKind,
  TypeInfo,
  type VariableDefinitionNode,
  isInputObjectType,
  isNonNullType,
  parse,
  specifiedRules,
  typeFromAST,
  validate,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { JsonSchema, OperationDescription, VariablesSchema } from '../../request/operation-description.ts';
import { describe, toDescription, toInputSchema } from './input-schema.ts';

/** How many input objects are written out in each other. A schema that is too large is written with the next depth. */
const DEPTHS = [5, 3, 1, 0];
/** The most bytes of the schema of one operation. */
const MAX_SCHEMA_BYTES = 32 * 1024;
/** MCP, "Tool names" */
const MAX_NAME_LENGTH = 128;

export interface DescribeOptions {
  /** The schema of clients. */
  readonly schema: GraphQLSchema;
  readonly maxTokens: number;
}

/** Returns the queries and mutations of a document that have a name. Throws GraphQLError for a document that is not valid, or whose schema is too large. */
export function describeOperations(query: string, { schema, maxTokens }: DescribeOptions): OperationDescription[] {
  const document = parse(query, { maxTokens });
  const [error] = validate(schema, document, specifiedRules, { maxErrors: 1 });
  if (error) throw error;
  const operations = document.definitions.filter((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  const meanings = findMeanings(document, schema);
  return operations.flatMap((operation) => {
    const name = operation.name?.value;
    const kind = operation.operation;
    if (name === undefined || name.length > MAX_NAME_LENGTH || kind === OperationTypeNode.SUBSCRIPTION) return [];
    const operationName = operations.length > 1 ? name : undefined;
    const description = describeOperation(operation, schema) ?? `Runs the ${kind} ${name}.`;
    return [{ name, kind, operationName, description, inputSchema: toVariablesSchema(operation, { schema, meanings }) }];
  });
}

interface Meanings {
  readonly schema: GraphQLSchema;
  /** What variables mean, by their names. */
  readonly meanings: ReadonlyMap<string, string>;
}

function toVariablesSchema(operation: OperationDefinitionNode, options: Meanings): VariablesSchema {
  for (const depth of DEPTHS) {
    const schema = writeVariables(operation.variableDefinitions ?? [], depth, options);
    if (Buffer.byteLength(JSON.stringify(schema)) <= MAX_SCHEMA_BYTES) return schema;
  }
  throw new GraphQLError(`The variables of the operation take more than ${String(MAX_SCHEMA_BYTES)} bytes to describe`);
}

function writeVariables(definitions: readonly VariableDefinitionNode[], depth: number, { schema, meanings }: Meanings): VariablesSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const { variable, type: typeNode, defaultValue, description } of definitions) {
    const name = variable.name.value;
    // Validation has found the type, which is an input type.
    const type = typeFromAST(schema, typeNode) as GraphQLInputType;
    const meaning = toDescription(description?.value) ?? meanings.get(name);
    const written = describe(toInputSchema(type, depth), meaning);
    properties[name] = defaultValue ? { ...written, default: valueFromASTUntyped(defaultValue) } : written;
    if (isNonNullType(type) && !defaultValue) required.push(name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

/** Returns the descriptions of the arguments and input fields that variables are given to, by the names of the variables. */
function findMeanings(document: DocumentNode, schema: GraphQLSchema): ReadonlyMap<string, string> {
  const meanings = new Map<string, string>();
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    Variable({ name }, _, parent) {
      if (parent === undefined || !('kind' in parent) || meanings.has(name.value)) return;
      const meaning = toDescription(parent.kind === Kind.OBJECT_FIELD ? describeInputField(parent.name.value) : describeArgument(parent));
      if (meaning !== undefined) meanings.set(name.value, meaning);
    },
  });
  const describeArgument = ({ kind }: { readonly kind: Kind }) => (kind === Kind.ARGUMENT ? types.getArgument()?.description : undefined);
  const describeInputField = (name: string) => {
    const type = schema.getType(String(types.getParentInputType()).replace(/[[\]!]/g, ''));
    return isInputObjectType(type) ? type.getFields()[name]?.description : undefined;
  };
  visit(document, visitor);
  return meanings;
}

/** Returns the description of the operation itself, else the comment above it, else the descriptions of its root fields. */
function describeOperation(operation: OperationDefinitionNode, schema: GraphQLSchema): string | undefined {
  const fields = schema.getRootType(operation.operation)?.getFields() ?? {};
  const ofFields = operation.selectionSet.selections.flatMap((selection) =>
    selection.kind === Kind.FIELD ? [fields[selection.name.value]?.description] : [],
  );
  return toDescription(operation.description?.value) ?? toDescription(readComment(operation)) ?? toDescription(...ofFields);
}

/** Returns the comment whose last line is directly above the operation. */
function readComment({ loc }: OperationDefinitionNode): string {
  const lines: string[] = [];
  let below = loc?.startToken;
  for (let token = below?.prev; below && token?.kind === TokenKind.COMMENT && token.line === below.line - 1; token = token.prev) {
    lines.unshift(token.value.replace(/^ /, ''));
    below = token;
  }
  return lines.join('\n');
}
