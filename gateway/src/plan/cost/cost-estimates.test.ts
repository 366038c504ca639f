/** Checks of schemas estimate costs without the gateway (packages/graph-checks): for operations without variables both give the same. */
import { describe, expect, it } from '@jest/globals';
import { estimateCost } from '@trestle/graph-checks/estimate-cost';
import fc from 'fast-check';
import {
  type DocumentNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  Kind,
  type OperationDefinitionNode,
  buildSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isUnionType,
  parse,
} from 'graphql';
import { generateCost } from './cost.ts';
import { createSelections } from '../selections/selection.ts';

const schema = buildSchema(`
  directive @cost(weight: String!) on FIELD_DEFINITION | OBJECT | SCALAR | ENUM | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
  directive @federation__listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!]) on FIELD_DEFINITION
  type Query {
    users(first: Int = 20): [User!]!
    page(first: Int, last: Int): Page
    assumed(page: Paging): [User] @federation__listSize(assumedSize: 5)
    sliced(count: Int, other: Int): [User] @federation__listSize(assumedSize: 7, slicingArguments: ["count", "other"])
    preset(count: Int = 30, page: Paging): [Any] @federation__listSize(slicingArguments: ["count", "page.limit"])
    cursor(limit: Int): Cursor @federation__listSize(assumedSize: 4, slicingArguments: ["limit"], sizedFields: ["rows"])
    node(by: Filter @cost(weight: "2")): Node
  }
  type Mutation { rename(by: Filter): User find(words: [String!] @cost(weight: "2"), order: Order): [Node] }
  input Paging { limit: Int = 7 page: Int @cost(weight: "0.5") }
  enum Order @cost(weight: "3") { UP DOWN }
  input Filter { text: String @cost(weight: "10"), age: Int, and: [Filter!], not: Filter, order: Order }
  type Page { edges: [Edge] items: [User] totalCount: Int @cost(weight: "-1") }
  type Edge { node: User }
  type Cursor { rows: [User] other: [User] }
  interface Node { id: ID friends(first: Int): [Node] }
  type User implements Node { id: ID friends(first: Int): [Node] photo: Photo @cost(weight: "6") }
  type Photo implements Node @cost(weight: "3") { id: ID url: String @cost(weight: "1") friends(first: Int): [Node] }
  union Any = User | Photo
`);

/** What the gateway says, by the code that it generates. */
function gatewayCost(document: DocumentNode): number {
  const operation = document.definitions[0] as OperationDefinitionNode;
  const fragments = new Map(
    document.definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  );
  const code = generateCost({
    ...{ schema, supergraph: schema, root: schema.getRootType(operation.operation) as GraphQLObjectType },
    ...{ sets: [{ set: operation.selectionSet, when: [] }], selections: createSelections(schema, fragments), introspection: 0 },
  });
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- the code under test is generated
  return (new Function(`return ${code}`)() as (variables: object) => number)({});
}

type Next = (below: number) => number;

function writeValue(type: GraphQLInputType, depth: number, next: Next): string {
  const nullable = getNullableType(type);
  if (!isNonNullType(type) && next(6) === 0) return 'null';
  if (isListType(nullable)) return `[${Array.from({ length: next(3) }, () => writeValue(nullable.ofType, depth, next)).join()}]`;
  if (isEnumType(nullable)) return 'UP';
  if (!isInputObjectType(nullable)) return nullable.toString() === 'String' ? '"a"' : String(next(8) - 2);
  const fields = Object.values(nullable.getFields()).filter(() => depth > 0 && next(2) === 0);
  return `{${fields.map(({ name, type: inner }) => `${name}:${writeValue(inner, depth - 1, next)}`).join()}}`;
}

function writeField({ name, args, type }: GraphQLField<unknown, unknown>, depth: number, next: Next): string {
  const given = args.filter(() => next(2) === 0).map((each) => `${each.name}:${writeValue(each.type, 3, next)}`);
  // With the field's name: two fields with one response key are not valid, and have no cost.
  const alias = next(3) === 0 ? `a${String(next(1000))}${name}:` : '';
  const condition = next(6) === 0 ? ` @${next(2) === 0 ? 'skip' : 'include'}(if:${String(next(2) === 0)})` : '';
  const returned = getNamedType(type);
  const below = isCompositeType(returned) ? writeSet(returned, depth - 1, next) : '';
  return `${alias}${name}${given.length > 0 ? `(${given.join()})` : ''}${condition}${below}`;
}

function writeSet(type: GraphQLCompositeType, depth: number, next: Next): string {
  const fields = isUnionType(type)
    ? []
    : Object.values(type.getFields()).filter((each) => depth > 0 || !isCompositeType(getNamedType(each.type)));
  const selections = Array.from({ length: 1 + next(3) }, () => {
    const field = fields[next(Math.max(1, fields.length))];
    const kind = depth > 0 ? next(5) : 1;
    const fragment = `f${type.name === 'User' || type.name === 'Photo' ? type.name : 'User'}`;
    if (kind === 0 && !['Query', 'Mutation', 'Page', 'Edge', 'Cursor'].includes(type.name)) return `...${fragment}`;
    if (kind === 2 && (isUnionType(type) || type.name === 'Node')) return `...on Photo${writeSet(schema.getType('Photo') as GraphQLObjectType, depth - 1, next)}`; // prettier-ignore
    return field ? writeField(field, depth, next) : '__typename';
  });
  return `{${selections.join(' ')}}`;
}

describe('estimates of graph-checks', () => {
  it('equal those of the gateway for any operation without variables', () => {
    let differing = new Set<number>();
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat()), (stream) => {
        const next: Next = (below) => (stream.next().value as number) % below;
        const isMutation = next(4) === 0;
        const root = (isMutation ? schema.getMutationType() : schema.getQueryType()) as GraphQLObjectType;
        const source = `${isMutation ? 'mutation' : 'query'}${writeSet(root, 4, next)}
        fragment fUser on User ${writeSet(schema.getType('User') as GraphQLObjectType, 0, next)}
        fragment fPhoto on Photo ${writeSet(schema.getType('Photo') as GraphQLObjectType, 0, next)}`;
        const document = parse(source);
        const cost = gatewayCost(document);
        differing = differing.add(cost);
        expect({ source, cost: estimateCost({ schema, supergraph: schema }, document) }).toEqual({ source, cost: expect.closeTo(cost, 6) });
      }),
      { numRuns: 300 },
    );
    // The operations must differ, or the comparison would say nothing.
    expect(differing.size).toBeGreaterThan(50);
  });
});
