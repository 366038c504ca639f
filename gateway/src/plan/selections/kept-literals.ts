/**
 * Keeps the text of literals of custom scalars. The planner reads a literal without its type and writes it anew: it changes digits beyond 2^53 and
 * fractions, and makes strings of enum values, which mean something to the service that defines the scalar (GraphQL §3.5).
 */
import { randomBytes } from 'node:crypto';
import {
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type StringValueNode,
  TypeInfo,
  type ValueNode,
  getNamedType,
  isScalarType,
  isSpecifiedScalarType,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** The start of a string that stands for a literal. It is secret: a client that knew it could write into the documents of fetches. */
const PREFIX = `trestle_literal_${randomBytes(16).toString('hex')}_`;
const PLACEHOLDER = new RegExp(`"${PREFIX}([0-9a-f]*)"`, 'g');

/** Returns the operation with a string in the place of each literal of a custom scalar that the planner would change. */
export function keepLiterals(schema: GraphQLSchema, operation: OperationDefinitionNode): OperationDefinitionNode {
  const types = new TypeInfo(schema);
  const keep = (node: ValueNode) => (isCustom(types.getInputType()) ? keepIn(node) : undefined);
  return visit(
    operation,
    visitWithTypeInfo(types, { IntValue: keep, FloatValue: keep, EnumValue: keep, ListValue: keep, ObjectValue: keep }),
  );
}

/** Returns the document of a fetch with the literals in the place of these strings. */
export function restoreLiterals(document: string): string {
  return document.includes(PREFIX) ? document.replaceAll(PLACEHOLDER, (_, text: string) => Buffer.from(text, 'hex').toString()) : document;
}

function isCustom(type: GraphQLInputType | null | undefined): boolean {
  const named = type && getNamedType(type);
  return isScalarType(named) && !isSpecifiedScalarType(named);
}

function keepIn(node: ValueNode): ValueNode {
  switch (node.kind) {
    case Kind.INT:
    case Kind.FLOAT:
      return String(Number(node.value)) === node.value ? node : placeholderFor(node.value);
    case Kind.ENUM:
      return placeholderFor(node.value);
    case Kind.LIST:
      return { ...node, values: node.values.map((each) => keepIn(each)) };
    case Kind.OBJECT:
      return { ...node, fields: node.fields.map((each) => ({ ...each, value: keepIn(each.value) })) };
    default:
      return node;
  }
}

function placeholderFor(text: string): StringValueNode {
  return { kind: Kind.STRING, value: `${PREFIX}${Buffer.from(text).toString('hex')}` };
}
