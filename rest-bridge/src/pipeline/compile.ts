/** Turns rows into what the pipeline runs on; all that can be wrong with a row is found here, at start. */
import type { GraphQLSchema } from 'graphql';
import { type Prepare, createPrepare, readOperations } from '../operations.ts';
import type { Reader, Row } from '../routes/row.ts';
import { type Table, createTable } from '../routes/table.ts';

export interface CompiledRow {
  readonly row: Row;
  readonly method: Row['method'];
  readonly path: string;
  readonly read: Reader;
  readonly prepare: Prepare;
}

/** Throws when a row names an operation or a type that is not there, or one that does not fit the schema. */
export function compileRows(rows: readonly Row[], schema: GraphQLSchema): Table<CompiledRow> {
  const operations = readOperations();
  return createTable(
    rows.map((row) => {
      const operation = operations.get(row.operation);
      if (!operation) throw new Error(`There is no operation ${row.operation}`);
      return {
        row,
        method: row.method,
        path: row.path,
        read: row.createReader(schema),
        prepare: createPrepare(schema, operation, row.resource),
      };
    }),
  );
}
