/** The size that is assumed of a list when neither the schema nor the operation gives one: that of the subgraphs that resolve the field. No I/O. */
import type { FieldName } from '@trestle/graph-checks/cost-directives';
import { type ConstDirectiveNode, type GraphQLSchema, Kind, isEnumType, isInterfaceType, isObjectType } from 'graphql';
import type { AssumedListSizes } from '../../limits/limits.ts';

/** Returns the assumed size of the list of a field. */
export type AssumedSizeOf = (field: FieldName) => number;

/** Creates the function for a supergraph. Where several subgraphs resolve a field, the largest of their sizes counts. */
export function createAssumedSizes(supergraph: GraphQLSchema, { all, bySubgraph }: AssumedListSizes): AssumedSizeOf {
  if (Object.keys(bySubgraph).length === 0) return () => all;
  const sizes = readSizes(supergraph, bySubgraph);
  return ({ type: name, field }) => {
    const type = supergraph.getType(name);
    if (!isObjectType(type) && !isInterfaceType(type)) return all;
    const ofField = graphsOf(type.getFields()[field]?.astNode?.directives, 'join__field');
    // A field without the directive is resolved by every subgraph that has its type.
    const graphs = ofField.length > 0 ? ofField : graphsOf(type.astNode?.directives, 'join__type');
    return graphs.length === 0 ? all : Math.max(...graphs.map((graph) => sizes.get(graph) ?? all));
  };
}

/** Returns the sizes by the value of the enum `join__Graph`, which stands for a subgraph. */
function readSizes(supergraph: GraphQLSchema, bySubgraph: AssumedListSizes['bySubgraph']): ReadonlyMap<string, number> {
  const type = supergraph.getType('join__Graph');
  const byName = new Map(Object.entries(bySubgraph));
  const sizes = new Map<string, number>();
  for (const { name: graph, astNode } of isEnumType(type) ? type.getValues() : []) {
    const written = astNode?.directives?.flatMap((each) => (each.name.value === 'join__graph' ? stringOf(each, 'name') : [])) ?? [];
    const size = byName.get((written[0] ?? graph).toLowerCase());
    if (size !== undefined) sizes.set(graph, size);
  }
  return sizes;
}

/** Returns the values of `graph:` of a directive, without those of subgraphs in which the field is external. */
function graphsOf(directives: readonly ConstDirectiveNode[] | undefined, name: string): string[] {
  return (directives ?? []).flatMap((each) => {
    if (each.name.value !== name) return [];
    const isExternal = valueOf(each, 'external');
    if (isExternal?.kind === Kind.BOOLEAN && isExternal.value) return [];
    const graph = valueOf(each, 'graph');
    return graph?.kind === Kind.ENUM ? [graph.value] : [];
  });
}

function stringOf(directive: ConstDirectiveNode, name: string): string[] {
  const value = valueOf(directive, name);
  return value?.kind === Kind.STRING ? [value.value] : [];
}

function valueOf(directive: ConstDirectiveNode, name: string) {
  return directive.arguments?.find((argument) => argument.name.value === name)?.value;
}
