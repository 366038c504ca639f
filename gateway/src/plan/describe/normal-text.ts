/**
 * Writes an operation without what clients put into it: literals, aliases, and selections that are equal then. Names of enum values and input fields
 * stay, and booleans and null, as in Apollo's operation signatures.
 */
import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type SelectionNode,
  TypeInfo,
  type ValueNode,
  getNamedType,
  isInputObjectType,
  isInputType,
  isScalarType,
  print,
  stripIgnoredCharacters,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';

const EMPTY_STRING = { kind: Kind.STRING, value: '' } as const;
const ZERO = { kind: Kind.INT, value: '0' } as const;

/** Returns the normal form of a valid document. */
export function normalizeDocument(schema: GraphQLSchema, document: DocumentNode): DocumentNode {
  const types = new TypeInfo(schema);
  const typed = visit(
    document,
    visitWithTypeInfo(types, {
      Argument: (node) => ({ ...node, value: normalizeValue(node.value, types.getInputType()) }),
      VariableDefinition: (node) => {
        if (!node.defaultValue) return undefined;
        const type = typeFromAST(schema, node.type as never);
        return { ...node, defaultValue: normalizeValue(node.defaultValue, isInputType(type) ? type : undefined) };
      },
    }),
  );
  return visit(typed, {
    Field: ({ alias, ...node }) => (alias ? node : undefined),
    SelectionSet: { leave: (node) => ({ ...node, selections: unique(node.selections) }) },
  });
}

/** Returns the text of a document in one line. */
export function toText(document: DocumentNode): string {
  return stripIgnoredCharacters(print(document));
}

function normalizeValue(value: ValueNode, type: GraphQLInputType | null | undefined): ValueNode {
  const named = type ? getNamedType(type) : undefined;
  // The content of a scalar is the client's, whatever its form.
  const isOpaque = !named || isScalarType(named);
  switch (value.kind) {
    case Kind.STRING:
      return EMPTY_STRING;
    case Kind.INT:
    case Kind.FLOAT:
      return ZERO;
    case Kind.ENUM:
      return isOpaque ? EMPTY_STRING : value;
    case Kind.LIST:
      return { ...value, values: isOpaque ? [] : unique(value.values.map((item) => normalizeValue(item, type))) };
    case Kind.OBJECT: {
      if (!isInputObjectType(named)) return { ...value, fields: [] };
      const fields = named.getFields();
      return {
        ...value,
        fields: value.fields.map((field) => ({ ...field, value: normalizeValue(field.value, fields[field.name.value]?.type) })),
      };
    }
    default:
      return value;
  }
}

/** Returns the nodes without those that are written as an earlier one. */
function unique<Node extends SelectionNode | ValueNode>(nodes: readonly Node[]): Node[] {
  if (nodes.length < 2) return [...nodes];
  return [...new Map(nodes.map((node) => [print(node), node])).values()];
}
