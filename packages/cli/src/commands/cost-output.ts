/** Prints what a change does to the costs of operations. */
import type { CostChange, CostComparison } from '@trestle/graph-checks/compare-costs';
import type { Reporter } from '../report.ts';
import { stripControl } from '../terminal.ts';

/** An operation that costs more. */
export interface PrintedCost extends CostChange {
  /** Whether the registry has an approval of it. */
  readonly isApproved?: boolean;
}

/** The costs in a report. */
export interface PrintedCosts {
  /** Null without a limit. */
  readonly maxCost: number | null;
  readonly compared: number;
  readonly grownCount: number;
  /** How many fail the check. */
  readonly overLimitCount: number;
  readonly operations: readonly PrintedCost[];
}

const MAX_OPERATIONS = 20;

/** Returns what is printed of the comparison of a check without a registry. */
export function toPrintedCosts({ grown, compared }: CostComparison, maxCost: number): PrintedCosts {
  const overLimitCount = grown.filter(({ isOverLimit }) => isOverLimit).length;
  const limit = maxCost > 0 ? maxCost : null;
  return { maxCost: limit, compared, grownCount: grown.length, overLimitCount, operations: grown.slice(0, MAX_OPERATIONS) };
}

/** Prints the operations that cost more, if there are any. */
export function printCosts({ maxCost, grownCount, operations }: PrintedCosts, reporter: Reporter): void {
  const { paint } = reporter.terminal;
  for (const operation of operations) {
    const isError = operation.isOverLimit && operation.isApproved !== true;
    const code = operation.isOverLimit ? 'COST_ABOVE_LIMIT' : 'COST_GROWN';
    const message = describe(operation, maxCost);
    if (reporter.format === 'github') {
      const severity = isError ? 'error' : 'info';
      reporter.fault({ code, message, severity, subgraph: null, line: null, column: null }, new Map());
    } else reporter.line(`${isError ? paint.red('cost') : paint.dim('cost')} ${paint.bold(code)} ${stripControl(message)}`);
  }
  const more = grownCount - operations.length;
  if (more > 0) reporter.line(`… and ${String(more)} more operations cost more`);
}

function describe({ name, hash, before, after, count, percent, isOverLimit, isApproved }: PrintedCost, maxCost: number | null): string {
  const share = count === null || percent === null ? '' : ` (${String(count)} requests, ${String(percent)} %)`;
  const limit = isOverLimit && maxCost !== null ? `, above the limit of ${String(maxCost)}` : '';
  const approved = isOverLimit && isApproved === true ? ' (approved)' : '';
  return `${name ?? hash.slice(0, 12)} costs ${String(after)} instead of ${String(before)}${limit}${share}${approved}`;
}
