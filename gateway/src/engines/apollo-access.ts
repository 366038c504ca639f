/**
 * `@authenticated`, `@requiresScopes` and `@policy` in front of the engine `apollo`: removes the fields that a caller may not read from the document,
 * and adds their nulls to the result. The supergraph that @apollo/gateway loads does not have these features, which it refuses.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeInfo,
  buildSchema,
  executeSync,
  getVariableValues,
  isAbstractType,
  parse,
  print,
  printSchema,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type Access, decideAll } from '../access/access-rule.ts';
import type { Denial } from '../access/denial.ts';
import type { Limits } from '../limits/limits.ts';
import { validateOperations } from '../limits/validate-operations.ts';
import type { AccessRules } from '../plan/supergraph/access-directives.ts';
import { type FindProtection, type Protection, createFindProtection } from '../plan/operation/protection.ts';
import { unusedAlias } from '../plan/selections/unused-alias.ts';
import type { DocumentRequest } from '../supergraph/prepared-operations.ts';
import { documentKey, keep } from './keep-documents.ts';

/** The field that has the type of an object. */
const TYPENAME = '__typename';

/** A document without the fields that are denied. */
export interface FilteredDocument {
  readonly query: string;
  readonly denials: readonly Denial[];
  /** Returns the data of the original document: null for each denied field, or for the nearest nullable field around it. */
  complete(data: Record<string, unknown> | null, variables: Readonly<Record<string, unknown>>): CompletedData;
}

/** What a resolver is called with after its source. */
type ResolverRest = [args: unknown, context: unknown, info: GraphQLResolveInfo];

export interface CompletedData {
  readonly data: Record<string, unknown> | null;
  /** The variables with the operation's defaults. */
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface AccessFilter {
  /** Returns undefined for a document that the caller may execute unchanged, and for one that is not valid: the engine refuses it. */
  filter(request: DocumentRequest, access: Access): FilteredDocument | undefined;
}

/** Creates the filter for a supergraph. `clientSchema` is the schema of clients. */
export function createAccessFilter(clientSchema: GraphQLSchema, rules: AccessRules, limits: Limits): AccessFilter {
  if (rules.size === 0) return { filter: () => undefined };
  // A schema without the resolvers that @apollo/gateway puts into its own.
  const schema = buildSchema(printSchema(clientSchema), { assumeValid: true });
  const findProtection = createFindProtection(schema, rules);
  const known = new Map<string, FilteredDocument | undefined>();
  const protections = new Map<string, ReadProtection | undefined>();
  return {
    filter(request, access) {
      const key = documentKey(request);
      const read = keep(protections, key, () => readProtection(request, { schema, limits, findProtection }));
      if (!read) return undefined;
      const outcome = decideAll(read.protection.rules, access);
      return keep(known, `${outcome}\n${key}`, () => filterDocument(read, outcome, schema));
    },
  };
}

interface ReadProtection {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly protection: Protection;
}

function readProtection(
  { query, operationName }: DocumentRequest,
  { schema, limits, findProtection }: { schema: GraphQLSchema; limits: Limits; findProtection: FindProtection },
): ReadProtection | undefined {
  const document = parseValid(query, { schema, limits });
  const operations = document?.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION) ?? [];
  const operation = operationName === undefined ? operations[0] : operations.find(({ name }) => name?.value === operationName);
  if (!document || !operation || (operationName === undefined && operations.length > 1)) return undefined;
  const fragments = document.definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  const protection = findProtection({ operation, fragments });
  return protection && { document, operation, protection };
}

function parseValid(query: string, { schema, limits }: { schema: GraphQLSchema; limits: Limits }): DocumentNode | undefined {
  try {
    const document = parse(query, { maxTokens: limits.maxTokens });
    return validateOperations(document, { schema, limits, maxErrors: 1 }).length === 0 ? document : undefined;
  } catch {
    return undefined;
  }
}

function filterDocument(
  { document, operation, protection }: ReadProtection,
  outcome: string,
  schema: GraphQLSchema,
): FilteredDocument | undefined {
  const { operation: allowed, fragments, denied, denials } = protection.filter(outcome);
  if (denied.size === 0) return undefined;
  // An alias counts as such (MAX_ALIASES), so there is one only where the client gives this name to another field.
  const alias = unusedAlias(document, TYPENAME);
  const reached = reachedFragments(allowed, fragments);
  const filtered: DocumentNode = { kind: Kind.DOCUMENT, definitions: [withUsedVariables(allowed, reached), ...reached] };
  return {
    query: print(withTypeNames(filtered, { schema, alias })),
    denials,
    complete: (data, given) => {
      const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], given);
      const variables = coerced ?? given;
      if (data === null) return { data, variables };
      const executed = executeSync({
        schema,
        document,
        operationName: operation.name?.value,
        rootValue: data,
        variableValues: given,
        // Null where the schema demands a value makes graphql-js put null in the place of the object around it (GraphQL §6.4.4).
        fieldResolver: (source: Record<string, unknown>, ...[, , { fieldNodes, path }]: ResolverRest) =>
          fieldNodes.every((node) => denied.has(node)) ? null : source[path.key],
        typeResolver: (source: Record<string, unknown>) => source[alias] as string,
      });
      return { data: executed.data ?? null, variables };
    },
  };
}

/** Returns the fragments that the operation still spreads: a document must not have others (GraphQL §5.5.1.4). */
function reachedFragments(operation: OperationDefinitionNode, fragments: readonly FragmentDefinitionNode[]): FragmentDefinitionNode[] {
  const reached = new Set<FragmentDefinitionNode>();
  const look = (node: OperationDefinitionNode | FragmentDefinitionNode): void => {
    visit(node, {
      FragmentSpread({ name }) {
        const fragment = fragments.find((each) => each.name.value === name.value);
        if (!fragment || reached.has(fragment)) return;
        reached.add(fragment);
        look(fragment);
      },
    });
  };
  look(operation);
  return [...reached];
}

/** Removes the definitions of variables that only denied fields used (GraphQL §5.8.4). */
function withUsedVariables(operation: OperationDefinitionNode, fragments: readonly FragmentDefinitionNode[]): OperationDefinitionNode {
  const used = new Set<string>();
  for (const node of [operation.selectionSet, ...(operation.directives ?? []), ...fragments])
    visit(node, { Variable: ({ name }) => void used.add(name.value) });
  const variableDefinitions = operation.variableDefinitions?.filter(({ variable }) => used.has(variable.name.value)) ?? [];
  return { ...operation, variableDefinitions };
}

/** Selects the type of each object behind an interface or a union: which fields the original document selects depends on it. */
function withTypeNames(document: DocumentNode, { schema, alias }: { schema: GraphQLSchema; alias: string }): DocumentNode {
  const typename: FieldNode = {
    kind: Kind.FIELD,
    ...(alias !== TYPENAME && { alias: { kind: Kind.NAME, value: alias } }),
    name: { kind: Kind.NAME, value: TYPENAME },
  };
  const types = new TypeInfo(schema);
  return visit(
    document,
    visitWithTypeInfo(types, {
      SelectionSet: {
        leave: (set): SelectionSetNode | undefined =>
          isAbstractType(types.getParentType()) ? { ...set, selections: [typename, ...set.selections] } : undefined,
      },
    }),
  );
}
