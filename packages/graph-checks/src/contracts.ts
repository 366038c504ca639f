/**
 * Makes contracts: variants of a supergraph that have only what include and exclude lists of `@tag` names select. What is left out is marked
 * `@inaccessible`, so that a gateway serves the variant as it serves the whole: subgraphs still deliver keys that clients do not see.
 */
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLError,
  Kind,
  type NameNode,
  OperationTypeNode,
  isTypeDefinitionNode,
  parse,
  print,
} from 'graphql';
import { toApiSdl } from './compose.ts';
import { type GraphFault, faultOfError } from './faults.ts';
import { findUnreachableTypes } from './reachable-types.ts';

/** Configures a contract. */
export interface ContractFilter {
  readonly name: string;
  /** When not empty, only fields of objects and interfaces, and unions, with one of these tags, or whose type has one, remain. */
  readonly include: readonly string[];
  /** Everything with one of these tags is left out, also when it is included. */
  readonly exclude: readonly string[];
  /** Whether types that no operation can reach are kept. Default false. */
  readonly keepUnreachableTypes?: boolean;
}

/** Holds the schemas of a contract, or why there is none. */
export type Contract =
  | { readonly ok: true; readonly supergraphSdl: string; readonly apiSdl: string }
  | { readonly ok: false; readonly errors: readonly GraphFault[] };

const TAG = 'tag';
const INACCESSIBLE = 'inaccessible';
const DEFINITION = `directive @${INACCESSIBLE} on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ENUM | ENUM_VALUE | SCALAR | INPUT_OBJECT \
| INPUT_FIELD_DEFINITION | ARGUMENT_DEFINITION`;
const LINK = `@link(url: "https://specs.apollo.dev/${INACCESSIBLE}/v0.2", for: SECURITY)`;
const MARK: ConstDirectiveNode = { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: INACCESSIBLE } };

/** A node of the schema that can have tags. */
interface Tagged {
  readonly directives?: readonly ConstDirectiveNode[] | undefined;
  readonly name: NameNode;
}

/** Returns the contract of a supergraph. A filter that leaves no valid schema, such as one without queries, is reported and not thrown. */
export function makeContract(supergraphSdl: string, filter: ContractFilter): Contract {
  try {
    const filtered = filterDocument(withInaccessible(parse(supergraphSdl)), filter);
    let sdl = `${print(filtered)}\n`;
    let apiSdl = toApiSdl(sdl);
    const unreachable = filter.keepUnreachableTypes ? new Set<string>() : findUnreachableTypes(apiSdl);
    if (unreachable.size > 0) {
      sdl = `${print(markTypes(filtered, unreachable))}\n`;
      apiSdl = toApiSdl(sdl);
    }
    return { ok: true, supergraphSdl: sdl, apiSdl };
  } catch (error) {
    return { ok: false, errors: causesOf(error as GraphQLError).map((cause) => faultOfError(cause, 'CONTRACT_FAILED')) };
  }
}

/** federation-internals reports several errors as one with `causes`. */
function causesOf(error: GraphQLError & { readonly causes?: readonly GraphQLError[] }): readonly GraphQLError[] {
  return error.causes ?? [error];
}

/** Adds the definition of `@inaccessible` and its link to a supergraph that has none. */
function withInaccessible(document: DocumentNode): DocumentNode {
  const isDefined = document.definitions.some((each) => each.kind === Kind.DIRECTIVE_DEFINITION && each.name.value === INACCESSIBLE);
  if (isDefined) return document;
  const [added] = parse(DEFINITION).definitions as [DefinitionNode];
  const [schema] = parse(`schema ${LINK} { query: Query }`).definitions as [DefinitionNode & { directives: ConstDirectiveNode[] }];
  const definitions = document.definitions.map((each) =>
    each.kind === Kind.SCHEMA_DEFINITION ? { ...each, directives: [...(each.directives ?? []), ...schema.directives] } : each,
  );
  return { ...document, definitions: [...definitions, added] };
}

function filterDocument(document: DocumentNode, filter: ContractFilter): DocumentNode {
  const [include, exclude] = [new Set(filter.include), new Set(filter.exclude)];
  const rules: Rules = {
    isExcluded: (node) => tagsOf(node).some((tag) => exclude.has(tag)),
    isIncluded: (node) => include.size === 0 || tagsOf(node).some((tag) => include.has(tag)),
  };
  const queryType = findQueryType(document);
  return { ...document, definitions: document.definitions.map((definition) => filterDefinition(definition, rules, queryType)) };
}

interface Rules {
  readonly isExcluded: (node: Tagged) => boolean;
  readonly isIncluded: (node: Tagged) => boolean;
}

function filterDefinition(definition: DefinitionNode, rules: Rules, queryType: string): DefinitionNode {
  switch (definition.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const isTypeIncluded = rules.isIncluded(definition);
      const fields = definition.fields?.map((field) => filterField(field, rules, isTypeIncluded)) ?? [];
      // A type of which nothing is left is left out. The root type of queries must be there.
      const isEmpty = fields.every(isMarked) && definition.name.value !== queryType;
      return markIf({ ...definition, fields }, rules.isExcluded(definition) || isEmpty);
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION: {
      const fields = definition.fields?.map((field) => markIf(field, rules.isExcluded(field))) ?? [];
      return markIf({ ...definition, fields }, rules.isExcluded(definition) || fields.every(isMarked));
    }
    case Kind.ENUM_TYPE_DEFINITION: {
      if (isOfSpecification(definition.name.value)) return definition;
      const values = definition.values?.map((value) => markIf(value, rules.isExcluded(value))) ?? [];
      return markIf({ ...definition, values }, rules.isExcluded(definition) || values.every(isMarked));
    }
    case Kind.UNION_TYPE_DEFINITION:
      return markIf(definition, rules.isExcluded(definition) || !rules.isIncluded(definition));
    case Kind.SCALAR_TYPE_DEFINITION:
      return markIf(definition, rules.isExcluded(definition));
    default:
      return definition;
  }
}

function filterField(field: FieldDefinitionNode, rules: Rules, isTypeIncluded: boolean): FieldDefinitionNode {
  const parameters = field.arguments?.map((argument) => markIf(argument, rules.isExcluded(argument))) ?? [];
  return markIf({ ...field, arguments: parameters }, rules.isExcluded(field) || !(isTypeIncluded || rules.isIncluded(field)));
}

function markTypes(document: DocumentNode, names: ReadonlySet<string>): DocumentNode {
  const definitions = document.definitions.map((definition) =>
    isTypeDefinitionNode(definition) && names.has(definition.name.value) ? markIf(definition, true) : definition,
  );
  return { ...document, definitions };
}

function markIf<Node extends Tagged>(node: Node, condition: boolean): Node {
  return condition && !isMarked(node) ? { ...node, directives: [...(node.directives ?? []), MARK] } : node;
}

function isMarked({ directives }: Tagged): boolean {
  return directives?.some(({ name }) => name.value === INACCESSIBLE) ?? false;
}

function tagsOf({ directives = [] }: Tagged): string[] {
  const tags = directives.filter(({ name }) => name.value === TAG).flatMap((tag) => tag.arguments ?? []);
  return tags.flatMap(({ name, value }) => (name.value === 'name' && value.kind === Kind.STRING ? [value.value] : []));
}

/** Enums of the specifications `join` and `link` are not part of the API. */
function isOfSpecification(name: string): boolean {
  return /^(join|link)__/u.test(name);
}

function findQueryType(document: DocumentNode): string {
  const schema = document.definitions.find((definition) => definition.kind === Kind.SCHEMA_DEFINITION);
  return schema?.operationTypes.find(({ operation }) => operation === OperationTypeNode.QUERY)?.type.name.value ?? 'Query';
}
