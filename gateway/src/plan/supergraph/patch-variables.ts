/** Repairs how Apollo's planner finds variables in arguments. */
import { VariableCollector, isVariable } from '@apollo/federation-internals';

/**
 * Replaces `collectInArguments`, which visits the elements of each list twice: its time doubles with each level of lists in lists, and 30 levels take
 * minutes. Idempotent.
 */
export function patchVariableCollector(): void {
  VariableCollector.prototype.collectInArguments = function collectInArguments(args: Record<string, unknown>): void {
    const open: unknown[] = Object.values(args);
    for (let value = open.pop(); value !== undefined || open.length > 0; value = open.pop()) {
      if (isVariable(value)) this.add(value);
      else if (typeof value === 'object' && value !== null) open.push(...(Object.values(value) as unknown[]));
    }
  };
}
