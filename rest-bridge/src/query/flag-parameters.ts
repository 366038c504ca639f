/** Parses query parameters that are true or false. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { GraphQLBoolean } from 'graphql';
import type { Parameters } from './parameters.ts';
import { parseText } from './values.ts';

/** Creates a parser of the parameters `names`; it returns only those that the request has. */
export function createFlagsParser(names: readonly string[]) {
  return (query: Parameters, faults: FieldFault[]): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      names.flatMap((field) => {
        const text = query.take(field);
        if (text === undefined) return [];
        const parsed = parseText(GraphQLBoolean, text);
        if ('value' in parsed) return [[field, parsed.value]];
        faults.push({ field, message: parsed.fault });
        return [];
      }),
    );
}
