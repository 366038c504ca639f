/** Chooses how operations are described for reports of usage. */
import type { UsageFormat } from '../../request/operation-usage.ts';
import { type DescribeUsage, describeUsage } from './describe-usage.ts';

/** Returns the function for a format and a supergraph. Only that of GraphOS loads packages of Apollo. */
export async function createUsageDescriber(format: UsageFormat, sdl: string): Promise<DescribeUsage> {
  if (format !== 'graphos') return (schema, used) => describeUsage(schema, used, format);
  const { createGraphosDescriber } = await import('./describe-graphos-usage.ts');
  return createGraphosDescriber(sdl);
}
