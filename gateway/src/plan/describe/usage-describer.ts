/** Chooses how operations are described for reports of usage. */
import type { GraphQLSchema } from 'graphql';
import type { OperationUsage, UsageFormat } from '../../request/operation-usage.ts';
import { type UsedOperation, describeUsage } from './describe-usage.ts';

/** Returns what is reported of a valid operation; undefined when it is longer than what it is reported to takes. */
export type DescribeUsage = (schema: GraphQLSchema, used: UsedOperation) => OperationUsage | undefined;

/** Returns the function for a format and a supergraph. Only that of GraphOS loads packages of Apollo. */
export async function createUsageDescriber(format: UsageFormat, sdl: string): Promise<DescribeUsage> {
  if (format !== 'graphos') return (schema, used) => describeUsage(schema, used, format);
  const { createGraphosDescriber } = await import('./describe-graphos-usage.ts');
  return createGraphosDescriber(sdl);
}
