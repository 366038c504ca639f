/** The registry's report of a check, in the form that is printed. */
import type { GraphFault, Severity } from '@trestle/graph-checks/faults';
import { type CheckedUsage, type PrintedChange, type PrintedReport, toDisagreementFault } from './check-output.ts';
import type { PrintedCost, PrintedCosts } from './cost-output.ts';

/** A problem or hint of the registry. */
export interface RegistryProblem {
  readonly code: string;
  readonly message: string;
  readonly places: readonly { readonly subgraph: string; readonly line: number; readonly column: number }[];
}

/** A change of the schema that clients see. */
export interface RegistryChange {
  readonly level: 'BREAKING' | 'DANGEROUS' | 'SAFE';
  readonly kind: string;
  readonly coordinate: string;
  readonly message: string;
  readonly isApproved: boolean;
  readonly verdict: 'PASS' | 'WARN' | 'FAIL' | 'NOT_ENOUGH_DATA';
  readonly affected: readonly RegistryOperation[];
  readonly affectedCount: number;
}

interface RegistryClientUsage {
  readonly name: string | null;
  readonly version: string | null;
  readonly requests: number;
  readonly percent: number;
  readonly lastSeen: string;
}

/** An operation that a change affects. */
interface RegistryOperation extends Omit<RegistryClientUsage, 'version'> {
  readonly hash: string;
  readonly clients: readonly RegistryClientUsage[];
}

/** What operations cost. */
interface RegistryCosts extends Omit<PrintedCosts, 'operations'> {
  readonly operations: readonly (Omit<PrintedCost, 'count'> & { readonly requests: number | null })[];
}

/** A check of the registry's API. */
export interface RegistryCheck {
  readonly id: string;
  readonly verdict: 'PASSED' | 'FAILED' | 'NOT_ENOUGH_DATA' | 'APPROVED';
  readonly launchId: string | null;
  readonly problems: readonly RegistryProblem[];
  readonly hints: readonly RegistryProblem[];
  readonly disagreements: readonly string[];
  readonly changes: readonly RegistryChange[];
  readonly unlistedCount: number;
  /** Null when the registry has no usage. */
  readonly usage: CheckedUsage | null;
  /** Null when there is nothing to compare with. */
  readonly costs: RegistryCosts | null;
  readonly brokenOperations: readonly {
    readonly name: string;
    readonly client: string;
    readonly messages: readonly string[];
  }[];
  readonly contracts: readonly {
    readonly name: string;
    readonly problems: readonly RegistryProblem[];
    readonly changes: readonly RegistryChange[];
  }[];
}

/** Returns a problem as a fault, at the first of its places. */
export function toFault({ code, message, places }: RegistryProblem, severity: Severity): GraphFault {
  const [place] = places;
  return { code, message, severity, subgraph: place?.subgraph ?? null, line: place?.line ?? null, column: place?.column ?? null };
}

/** Returns the report to print, with the faults that this process has found by lint. */
export function toPrintedReport(check: RegistryCheck, lint: readonly GraphFault[]): PrintedReport {
  const broken = check.brokenOperations.map(({ name, client, messages }): GraphFault => {
    const message = `Operation "${name}" of client "${client}" becomes invalid: ${messages.join(' ')}`;
    return { code: 'BROKEN_OPERATION', message, severity: 'error', subgraph: null, line: null, column: null };
  });
  const changes = [
    ...check.changes.map((change) => toPrintedChange(change)),
    ...check.contracts.flatMap((contract) => contract.changes.map((change) => toPrintedChange(change, contract.name))),
  ];
  const faults = [
    ...[check, ...check.contracts].flatMap(({ problems }) => problems.map((each) => toFault(each, 'error'))),
    ...broken,
    ...lint,
    ...check.disagreements.map(toDisagreementFault),
    ...check.hints.map((each) => toFault(each, 'info')),
  ];
  const isLintError = lint.some(({ severity }) => severity === 'error');
  const isWarned = changes.some(({ verdict }) => verdict === 'warn') || faults.some(({ severity }) => severity === 'warning');
  const passed = isWarned || lint.length > 0 ? 'warn' : 'pass';
  const verdict = check.verdict === 'FAILED' || isLintError ? 'fail' : check.verdict === 'NOT_ENOUGH_DATA' ? 'not_enough_data' : passed;
  const operations = check.costs?.operations.map(({ requests: count, ...operation }) => ({ ...operation, count })) ?? [];
  return {
    verdict,
    faults,
    changes,
    unlistedCount: check.unlistedCount,
    usage: check.usage,
    costs: check.costs && { ...check.costs, operations },
  };
}

const VERDICTS = { PASS: 'pass', WARN: 'warn', FAIL: 'fail', NOT_ENOUGH_DATA: 'not_enough_data' } as const;
const LEVELS = { BREAKING: 'breaking', DANGEROUS: 'dangerous', SAFE: 'safe' } as const;

/** Names the contract in the message, when it is its clients who see the change. */
function toPrintedChange(change: RegistryChange, contract?: string): PrintedChange {
  const { level, kind, coordinate, message, isApproved, verdict, affected, affectedCount } = change;
  const named = contract === undefined ? message : `Contract ${contract}: ${message}`;
  return {
    ...{ level: LEVELS[level], type: kind, coordinate, message: isApproved ? `${named} (approved)` : named },
    verdict: isApproved ? 'pass' : VERDICTS[verdict],
    isApproved,
    affected: affected.map(({ requests, clients, ...operation }) => ({
      ...operation,
      count: requests,
      clients: clients.map(({ requests: count, ...client }) => ({ ...client, count })),
    })),
    affectedCount,
  };
}
