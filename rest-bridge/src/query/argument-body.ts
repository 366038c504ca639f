/** Parses a JSON body whose fields are the arguments of a mutation; the schema gives their names and types. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { type GraphQLArgument, isRequiredArgument } from 'graphql';
import type { ReaderContext, RequestReader } from './request-reader.ts';
import { parseJsonValue } from './values.ts';

/** Returns the arguments of a mutation. Throws an Error when it does not exist. */
export function argumentsOf({ schema }: Pick<ReaderContext, 'schema'>, mutation: string): readonly GraphQLArgument[] {
  const field = schema.getMutationType()?.getFields()[mutation];
  if (!field) throw new Error(`The schema has no mutation ${mutation}`);
  return field.args;
}

/** Creates the reader of a body. It adds a fault for each field that is missing, unknown or of the wrong type. */
export function createArgumentReader(context: ReaderContext, mutation: string): RequestReader {
  const args = new Map(argumentsOf(context, mutation).map((argument) => [argument.name, argument]));
  return ({ body, params }, faults) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      faults.push({ field: '', message: 'request body must be a JSON object' });
      return { variables: params };
    }
    const sent = body as Readonly<Record<string, unknown>>;
    for (const argument of args.values())
      if (isRequiredArgument(argument) && sent[argument.name] === undefined && !Object.hasOwn(params, argument.name))
        faults.push({ field: argument.name, message: 'is required' });
    const parsed = Object.entries(sent).flatMap(([name, value]) => {
      const argument = Object.hasOwn(params, name) ? undefined : args.get(name);
      return parseArgument(name, value, { argument, faults });
    });
    return { variables: { ...Object.fromEntries(parsed), ...params } };
  };
}

interface ArgumentRule {
  readonly argument: GraphQLArgument | undefined;
  readonly faults: FieldFault[];
}

function parseArgument(name: string, value: unknown, { argument, faults }: ArgumentRule): [string, unknown][] {
  const parsed = argument ? parseJsonValue(argument.type, value, name) : { fault: 'is unknown' };
  if ('value' in parsed) return [[name, parsed.value]];
  faults.push({ field: name, message: parsed.fault });
  return [];
}
