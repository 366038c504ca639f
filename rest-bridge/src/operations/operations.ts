/** The operation documents of the routes, with the selection sets that requests ask for. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type DocumentNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  parse,
  print,
  stripIgnoredCharacters,
  validate,
  visit,
} from 'graphql';
import type { FieldSelection } from '../query/field-selection.ts';
import type { ReaderContext } from '../query/request-reader.ts';
import { type Projection, createProjection } from '../resources/projection.ts';
import type { Resource } from '../resources/resource.ts';

/** An operation with the selection set of one field selection. */
export interface CompiledOperation {
  /** The JSON of the GraphQL request up to the value of `variables`, so that the document is escaped once and not in each request. */
  readonly bodyStart: string;
  /** The response keys from `data` to the result of the route; for a list, to its connection. */
  readonly resultPath: readonly string[];
  readonly projection: Projection;
}

/** Returns the operation for a field selection. */
export type CompileOperation = (selection: FieldSelection) => CompiledOperation;

/** Maximum number of field selections of one route that are cached besides the default fields; others are compiled for each request. */
const MAX_CACHED_SELECTIONS = 200;
const DEFAULT_FIELDS = '*|';

/** Reads the `.graphql` files beside this module. Returns the operations by name. */
export function readOperations(): Map<string, OperationDefinitionNode> {
  const directory = fileURLToPath(new URL('../../src/operations/', import.meta.url));
  const files = readdirSync(directory).filter((file) => file.endsWith('.graphql'));
  const definitions = files.flatMap((file) => parse(readFileSync(`${directory}${file}`, 'utf8')).definitions);
  return new Map(
    definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION && definition.name ? [[definition.name.value, definition]] : [],
    ),
  );
}

/**
 * Creates the compiler of an operation for a resource. The compiler throws an Error when the operation, with the selected fields of the
 * resource, is not valid against the schema.
 */
export function createOperationCompiler(context: ReaderContext, operation: OperationDefinitionNode, resource: Resource): CompileOperation {
  const resultPath = findResultPath(operation);
  const cache = new Map<string, CompiledOperation>();
  return (selection) => {
    const key = `${selection.fields?.join(',') ?? '*'}|${selection.include.join(',')}`;
    const known = cache.get(key);
    if (known) return known;
    const projection = createProjection(resource, selection, context.version);
    const document = toDocument(operation, projection.selectionSet);
    const [error] = validate(context.schema, document);
    if (error) throw new Error(`Operation ${operation.name?.value ?? ''} is not valid against the schema: ${error.message}`);
    const bodyStart = `{"query":${JSON.stringify(stripIgnoredCharacters(print(document)))},"variables":`;
    const compiled = { bodyStart, resultPath, projection };
    if (key === DEFAULT_FIELDS || cache.size < MAX_CACHED_SELECTIONS) cache.set(key, compiled);
    return compiled;
  };
}

/** Returns the operation as a document, with `selectionSet` in the field that `@resource` marks. */
function toDocument(operation: OperationDefinitionNode, selectionSet: SelectionSetNode): DocumentNode {
  const definition = visit(operation, {
    Field: (node) => (isResource(node) ? { ...node, directives: [], selectionSet } : undefined),
  });
  return { kind: Kind.DOCUMENT, definitions: [definition] };
}

/**
 * Returns the path of the field that `@resource` marks, of the connection whose edges contain it, or of the field of a mutation that
 * returns no resource. A query without a mark has all of `data` as its result.
 */
function findResultPath(operation: OperationDefinitionNode): string[] {
  const path = findResource(operation.selectionSet) ?? [];
  const edges = path.indexOf('edges');
  if (edges >= 0) return path.slice(0, edges);
  return operation.operation === OperationTypeNode.MUTATION ? [toResponseKey(operation.selectionSet.selections[0] as FieldNode)] : path;
}

function findResource(selectionSet: SelectionSetNode): string[] | undefined {
  for (const selection of selectionSet.selections) {
    if (selection.kind !== Kind.FIELD) continue;
    if (isResource(selection)) return [toResponseKey(selection)];
    const below = selection.selectionSet && findResource(selection.selectionSet);
    if (below) return [toResponseKey(selection), ...below];
  }
  return undefined;
}

function isResource(node: FieldNode): boolean {
  return node.directives?.some(({ name }) => name.value === 'resource') === true;
}

function toResponseKey(field: FieldNode): string {
  return field.alias?.value ?? field.name.value;
}
