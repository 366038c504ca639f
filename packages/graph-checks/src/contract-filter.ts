/**
 * Marks what a contract leaves out of a supergraph as inaccessible. Tags of objects and interfaces count for their fields. Include lists select fields of
 * objects and interfaces, and unions; exclude lists select everything that can have a tag. No I/O.
 */
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  OperationTypeNode,
  isTypeDefinitionNode,
} from 'graphql';
import { type SpecificationNames, readArgument } from './contract-directives.ts';

/** Selects what a contract has. */
export interface ContractFilter {
  /** When not empty, only fields of objects and interfaces, and unions, with one of these tags, or whose type has one, remain. */
  readonly include: readonly string[];
  /** Everything with one of these tags is left out, also when it is included. */
  readonly exclude: readonly string[];
  /** Whether types that no operation can reach, and that have no tag of `include`, are left out too. Default true. */
  readonly removeUnreachableTypes?: boolean;
}

/** A node of the schema that can have tags. */
interface Tagged {
  readonly directives?: readonly ConstDirectiveNode[] | undefined;
}

interface Rules {
  readonly isExcluded: (node: Tagged) => boolean;
  /** Whether the node has an included tag, or there is no include list. */
  readonly isIncluded: (node: Tagged) => boolean;
  readonly isMarked: (node: Tagged) => boolean;
  readonly markIf: <Node extends Tagged>(node: Node, condition: boolean) => Node;
  /** The root type of queries: without it there is no schema, so that its loss is an error. */
  readonly queryType: string;
}

/** Returns the supergraph with everything marked that the tags leave out, and the types of which nothing remains. */
export function filterDocument(document: DocumentNode, filter: ContractFilter, names: SpecificationNames): DocumentNode {
  const rules = toRules(document, filter, names);
  const definitions = document.definitions.map((definition) => filterDefinition(definition, rules));
  // Unions come last: they lose the members that are left out, and objects of which no field remains.
  const gone = new Set(definitions.flatMap((each) => (isTypeDefinitionNode(each) && rules.isMarked(each) ? [each.name.value] : [])));
  return {
    ...document,
    definitions: definitions.map((definition) =>
      definition.kind === Kind.UNION_TYPE_DEFINITION
        ? rules.markIf(definition, definition.types?.every(({ name }) => gone.has(name.value)) ?? true)
        : definition,
    ),
  };
}

/** Returns the supergraph with these types marked. */
export function markTypes(document: DocumentNode, types: ReadonlySet<string>, names: SpecificationNames): DocumentNode {
  const { markIf } = toRules(document, { include: [], exclude: [] }, names);
  const definitions = document.definitions.map((definition) =>
    isTypeDefinitionNode(definition) ? markIf(definition, types.has(definition.name.value)) : definition,
  );
  return { ...document, definitions };
}

/** Returns the names of the types that remain although no operation may reach them, because they have an included tag themselves. */
export function listKeptTypes(document: DocumentNode, filter: ContractFilter, names: SpecificationNames): Set<string> {
  if (filter.include.length === 0) return new Set();
  const { isIncluded, isMarked } = toRules(document, filter, names);
  const kept = document.definitions.flatMap((each) =>
    isTypeDefinitionNode(each) && isIncluded(each) && !isMarked(each) ? [each.name.value] : [],
  );
  return new Set(kept);
}

function toRules(document: DocumentNode, filter: ContractFilter, names: SpecificationNames): Rules {
  const [include, exclude] = [new Set(filter.include), new Set(filter.exclude)];
  const mark: ConstDirectiveNode = { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: names.inaccessible } };
  const tagsOf = ({ directives = [] }: Tagged) =>
    directives.flatMap((each) => (each.name.value === names.tag ? [readArgument(each, 'name') ?? ''] : []));
  const isMarked = ({ directives = [] }: Tagged) => directives.some(({ name }) => name.value === names.inaccessible);
  return {
    isExcluded: (node) => tagsOf(node).some((tag) => exclude.has(tag)),
    isIncluded: (node) => include.size === 0 || tagsOf(node).some((tag) => include.has(tag)),
    isMarked,
    markIf: (node, condition) => (condition && !isMarked(node) ? { ...node, directives: [...(node.directives ?? []), mark] } : node),
    queryType: findQueryType(document),
  };
}

function filterDefinition(definition: DefinitionNode, rules: Rules): DefinitionNode {
  const { isExcluded, isIncluded, isMarked, markIf, queryType } = rules;
  switch (definition.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const isTypeIncluded = isIncluded(definition);
      const fields = definition.fields?.map((field) => filterField(field, rules, isTypeIncluded)) ?? [];
      const isEmpty = fields.every(isMarked) && definition.name.value !== queryType;
      return markIf({ ...definition, fields }, isExcluded(definition) || isEmpty);
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION: {
      const fields = definition.fields?.map((field) => markIf(field, isExcluded(field))) ?? [];
      return markIf({ ...definition, fields }, isExcluded(definition) || fields.every(isMarked));
    }
    case Kind.ENUM_TYPE_DEFINITION: {
      if (isOfSpecification(definition.name.value)) return definition;
      const values = definition.values?.map((value) => markIf(value, isExcluded(value))) ?? [];
      return markIf({ ...definition, values }, isExcluded(definition) || values.every(isMarked));
    }
    case Kind.UNION_TYPE_DEFINITION:
      return markIf(definition, isExcluded(definition) || !isIncluded(definition));
    case Kind.SCALAR_TYPE_DEFINITION:
      return markIf(definition, isExcluded(definition));
    default:
      return definition;
  }
}

function filterField(field: FieldDefinitionNode, { isExcluded, isIncluded, markIf }: Rules, isTypeIncluded: boolean): FieldDefinitionNode {
  const parameters = field.arguments?.map((argument) => markIf(argument, isExcluded(argument))) ?? [];
  return markIf({ ...field, arguments: parameters }, isExcluded(field) || !(isTypeIncluded || isIncluded(field)));
}

/** Enums of the specifications `join` and `link` are not part of the API. */
function isOfSpecification(name: string): boolean {
  return /^(join|link)__/u.test(name);
}

function findQueryType(document: DocumentNode): string {
  const schema = document.definitions.find((definition) => definition.kind === Kind.SCHEMA_DEFINITION);
  return schema?.operationTypes.find(({ operation }) => operation === OperationTypeNode.QUERY)?.type.name.value ?? 'Query';
}
