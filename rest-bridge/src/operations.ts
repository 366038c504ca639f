/** The operation documents, and their selections rewritten to what a request wants to see (cached). */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
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
import type { Shape } from './query/shape.ts';
import { type Projection, createProjection } from './reply/projection.ts';
import type { Resource } from './reply/resource.ts';
import type { ReaderContext } from './query/reading.ts';

/** What is sent for a row and a shape, and how the answer is read. */
export interface Prepared {
  /** The request's JSON up to its variables, so that the document is escaped once and not for each request. */
  readonly documentStart: string;
  /** The names that lead from `data` to the answer; a list's answer is its connection. */
  readonly path: readonly string[];
  readonly projection: Projection;
}

export type Prepare = (shape: Shape) => Prepared;

/** More shapes than this of one row are made anew each time: nobody needs them, but somebody may try them all. */
const REMEMBERED_SHAPES = 200;

/** Reads `operations/*.graphql` beside this file: each operation by its name. */
export function readOperations(): Map<string, OperationDefinitionNode> {
  const directory = fileURLToPath(new URL('../src/operations/', import.meta.url));
  const definitions = readdirSync(directory).flatMap((file) => parse(readFileSync(`${directory}${file}`, 'utf8')).definitions);
  return new Map(
    definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION && definition.name ? [[definition.name.value, definition]] : [],
    ),
  );
}

/** Throws at start when the operation, with the resource's usual fields, does not fit the schema. */
export function createPrepare({ schema, version }: ReaderContext, operation: OperationDefinitionNode, resource: Resource): Prepare {
  const path = findAnswer(operation);
  const cache = new Map<string, Prepared>();
  const prepare: Prepare = (shape) => {
    const key = `${shape.fields?.join(',') ?? '*'}|${shape.include.join(',')}`;
    let prepared = cache.get(key);
    if (!prepared) {
      const projection = createProjection(resource, shape, version);
      const text = rewrite(schema, operation, projection.selection);
      prepared = { documentStart: `{"query":${JSON.stringify(text)},"variables":`, path, projection };
      if (cache.size < REMEMBERED_SHAPES) cache.set(key, prepared);
    }
    return prepared;
  };
  prepare({ fields: undefined, include: [] });
  return prepare;
}

/** Puts the selection in place of the one that is marked by `@resource`, and validates the result. */
function rewrite(schema: GraphQLSchema, operation: OperationDefinitionNode, selection: string): string {
  const [wanted] = parse(`{ ${selection} }`).definitions;
  const selectionSet = (wanted as OperationDefinitionNode).selectionSet;
  const document: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [visit(operation, { Field: (node) => (isResource(node) ? { ...node, directives: [], selectionSet } : undefined) })],
  };
  const [error] = validate(schema, document);
  if (error) throw new Error(`${operation.name?.value ?? ''} does not fit the schema: ${error.message}`);
  return stripIgnoredCharacters(print(document));
}

/**
 * The way to the answer: down to the marked field, or to the connection whose edges hold it, or to the payload of a mutation. A query
 * without a mark is answered by all of its data.
 */
function findAnswer(operation: OperationDefinitionNode): string[] {
  const path = findResource(operation.selectionSet) ?? [];
  const edges = path.indexOf('edges');
  if (edges >= 0) return path.slice(0, edges);
  return operation.operation === OperationTypeNode.MUTATION ? [responseName(operation.selectionSet.selections[0] as FieldNode)] : path;
}

function findResource(selectionSet: SelectionSetNode): string[] | undefined {
  for (const selection of selectionSet.selections) {
    if (selection.kind !== Kind.FIELD) continue;
    if (isResource(selection)) return [responseName(selection)];
    const below = selection.selectionSet && findResource(selection.selectionSet);
    if (below) return [responseName(selection), ...below];
  }
  return undefined;
}

function isResource(node: FieldNode): boolean {
  return node.directives?.some(({ name }) => name.value === 'resource') === true;
}

function responseName(field: FieldNode): string {
  return field.alias?.value ?? field.name.value;
}
