/** Reads parameters of the query that are true or false. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { GraphQLBoolean } from 'graphql';
import type { Parameters } from './parameters.ts';
import { readText } from './values.ts';

/** What is not given is left out. */
export function createFlagsReader(names: readonly string[]) {
  return (query: Parameters, faults: FieldFault[]): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      names.flatMap((field) => {
        const text = query.take(field);
        if (text === undefined) return [];
        const read = readText(GraphQLBoolean, text);
        if ('value' in read) return [[field, read.value]];
        faults.push({ field, message: read.fault });
        return [];
      }),
    );
}
