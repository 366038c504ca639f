/** Turns rows into what the pipeline runs on, once for each version; all that can be wrong with a row is found here, at start. */
import { type GraphQLSchema, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { type Prepare, createPrepare, readOperations } from '../operations.ts';
import { createBodyReader } from '../query/body.ts';
import { createFlagsReader } from '../query/flags.ts';
import { createListReader } from '../query/list.ts';
import type { Reader, ReaderContext } from '../query/reading.ts';
import type { Alternative, LocalRow, Method, OperationRow, Row } from '../routes/row.ts';
import { type Table, createTable } from '../routes/table.ts';

interface CompiledBase {
  readonly method: Method;
  readonly path: string;
  readonly takesBody: boolean;
}

export interface CompiledOperation extends CompiledBase {
  readonly row: OperationRow;
  readonly isMutation: boolean;
  readonly read: Reader;
  readonly prepare: Prepare;
  readonly alternatives: readonly CompiledAlternative[];
  /** Gives version and last change of the resource whose conditions count, for a write that has one. */
  readonly guard?: Prepare;
}

export interface CompiledLocal extends CompiledBase {
  readonly row: LocalRow;
}

export type CompiledRow = CompiledOperation | CompiledLocal;

export interface CompiledAlternative extends Pick<Alternative, 'type' | 'write'> {
  readonly prepare: Prepare;
}

/** Throws when a row names an operation or a type that is not there, or one that does not fit the schema. */
export function compileRows(
  rows: readonly Row[],
  context: { readonly schema: GraphQLSchema; readonly version: number },
): Table<CompiledRow> {
  const operations = readOperations();
  const operationOf = (name: string): OperationDefinitionNode => {
    const operation = operations.get(name);
    if (!operation) throw new Error(`There is no operation ${name}`);
    return operation;
  };
  return createTable(
    rows.map((row): CompiledRow => {
      const { method, path } = row;
      if (!('operation' in row)) return { row, method, path, takesBody: false };
      const operation = operationOf(row.operation);
      const guarding = findGuard(rows, row);
      return {
        row,
        method,
        path,
        takesBody: row.reads.kind === 'body' || (row.reads.kind === 'own' && row.reads.takesBody),
        isMutation: operation.operation === OperationTypeNode.MUTATION,
        read: createReader(row, context),
        prepare: createPrepare(context, operation, row.resource),
        alternatives: (row.alternatives ?? []).map(({ type, write, resource }) => ({
          type,
          write,
          prepare: createPrepare(context, operation, resource),
        })),
        ...(guarding && { guard: createPrepare(context, operationOf(guarding.operation), guarding.resource) }),
      };
    }),
  );
}

function createReader({ reads }: OperationRow, context: ReaderContext): Reader {
  switch (reads.kind) {
    case 'path': {
      const readFlags = createFlagsReader(Object.keys(reads.flags ?? {}));
      return ({ params, query }, faults) => ({ variables: { ...params, ...readFlags(query, faults) } });
    }
    case 'list': {
      const readList = createListReader(context, reads.rule);
      return ({ params, query }, faults) => {
        const list = readList(query, faults);
        return { ...list, variables: { ...params, ...list.variables } };
      };
    }
    case 'body': {
      const readBody = createBodyReader(context, reads.rule);
      return (request, faults) => ({ variables: { ...request.params, input: readBody(request, faults) } });
    }
    case 'own':
      return reads.createReader(context);
  }
}

/** The row that reads what a write changes: at the same path, or at the one above an action. */
function findGuard(rows: readonly Row[], { path, changes }: OperationRow): OperationRow | undefined {
  if (!changes) return undefined;
  const place = changes === 'itself' ? path : path.slice(0, path.lastIndexOf('/'));
  const found = rows.find((row): row is OperationRow => 'operation' in row && row.method === 'GET' && row.path === place);
  if (!found) throw new Error(`Nothing reads what ${path} changes`);
  return found;
}
