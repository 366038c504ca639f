import type { OperationUsage } from '../request/operation-usage.ts';

/** Returns about how many bytes the description of an operation takes: one that is not cached any more is kept by its records alone. */
export function sizeOfOperation({ text, uses }: OperationUsage): number {
  return uses.reduce((sum, use) => sum + use.length + 16, text.length);
}
