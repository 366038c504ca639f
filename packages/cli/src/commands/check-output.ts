/** Prints the report of a check, and finds its exit code. */
import type { GraphFault } from '@trestle/graph-checks/faults';
import type { AffectedOperation, Verdict } from '@trestle/graph-checks/usage';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Reporter, Sources } from '../report.ts';
import { stripControl } from '../terminal.ts';
import { type PrintedCosts, printCosts } from './cost-output.ts';

/** A change as it is printed. */
export interface PrintedChange {
  readonly level: 'breaking' | 'dangerous' | 'safe';
  readonly type: string;
  /** The schema coordinate of what changes, such as `User.age`. */
  readonly coordinate: string;
  readonly message: string;
  readonly verdict: Verdict;
  /** Whether the registry has an approval of it. */
  readonly isApproved?: boolean;
  readonly affected: readonly AffectedOperation[];
  readonly affectedCount: number;
}

/** The usage by which a registry has decided. */
export interface CheckedUsage {
  readonly days: number;
  readonly operations: number;
  readonly requests: number;
  /** False when not every operation could be looked at. */
  readonly isComplete: boolean;
}

/** A report as it is printed, whether the registry or this process has made it. */
export interface PrintedReport {
  readonly verdict: Verdict;
  readonly faults: readonly GraphFault[];
  readonly changes: readonly PrintedChange[];
  /** How many more changes fail a check of the registry or lack data; it lists the first 1,000. */
  readonly unlistedCount?: number;
  /** What the changes were decided by; null when nothing was recorded. */
  readonly usage?: CheckedUsage | null;
  /** Null when there is nothing to compare with. */
  readonly costs?: PrintedCosts | null;
}

const EXITS: Record<Verdict, ExitCode> = {
  pass: EXIT.success,
  warn: EXIT.success,
  fail: EXIT.refused,
  not_enough_data: EXIT.notEnoughData,
};
const RESULT: Record<Verdict, string> = {
  pass: 'The check passed.',
  warn: 'The check passed with warnings.',
  fail: 'The check failed.',
  not_enough_data: 'Not enough data: too few requests were recorded to say that no client uses what breaks.',
};
const ANNOTATION = { pass: 'info', warn: 'warning', fail: 'error', not_enough_data: 'warning' } as const;
const MAX_SAFE = 20;
const MAX_EQUAL_WARNINGS = 3;

/** Returns what the second composer finds and the first does not, or the reverse, as a warning. */
export function toDisagreementFault(message: string): GraphFault {
  return { code: 'COMPOSERS_DISAGREE', message, severity: 'warning', subgraph: null, line: null, column: null };
}

/** Prints a report and returns its exit code. */
export function printReport(report: PrintedReport, reporter: Reporter, sources: Sources): ExitCode {
  const { paint } = reporter.terminal;
  printFaults(report.faults, reporter, sources);
  const risky = report.changes.filter(({ level }) => level !== 'safe');
  for (const change of risky) printChange(change, reporter);
  if (report.unlistedCount) printUnlisted(report.unlistedCount, reporter);
  if (report.costs) printCosts(report.costs, reporter);
  const safe = report.changes.filter(({ level }) => level === 'safe');
  if (reporter.format === 'text') {
    for (const { message } of safe.slice(0, MAX_SAFE)) reporter.line(`${paint.green('safe')} ${stripControl(message)}`);
    if (safe.length > MAX_SAFE) reporter.line(`… and ${String(safe.length - MAX_SAFE)} more safe changes`);
    if (risky.length > 0 && report.usage !== undefined) reporter.line(describeUsage(report.usage));
    const color = report.verdict === 'fail' ? paint.red : report.verdict === 'pass' ? paint.green : paint.yellow;
    reporter.line(color(RESULT[report.verdict]));
  }
  return EXITS[report.verdict];
}

/** Prints every error. Of equal warnings for people only the first ones: a schema without descriptions would hide the verdict. */
function printFaults(faults: readonly GraphFault[], reporter: Reporter, sources: Sources): void {
  const counts = new Map<string, number>();
  for (const fault of faults) {
    const count = (counts.get(fault.code) ?? 0) + 1;
    counts.set(fault.code, count);
    if (reporter.format !== 'text' || fault.severity === 'error' || count <= MAX_EQUAL_WARNINGS) reporter.fault(fault, sources);
  }
  if (reporter.format !== 'text') return;
  for (const [code, count] of counts) {
    const isError = faults.some((fault) => fault.code === code && fault.severity === 'error');
    if (!isError && count > MAX_EQUAL_WARNINGS) reporter.line(`… and ${String(count - MAX_EQUAL_WARNINGS)} more of ${code}`);
  }
}

function describeUsage(usage: CheckedUsage | null): string {
  if (!usage) return 'No usage is recorded: every breaking change fails.';
  const { days, operations, requests, isComplete } = usage;
  const rest = isComplete ? '' : ' Not every operation could be looked at.';
  return `Decided by ${String(requests)} requests of ${String(operations)} operations; usage is recorded for ${String(days)} days.${rest}`;
}

function printUnlisted(count: number, reporter: Reporter): void {
  const message = `Changes that fail the check or lack data, beyond those that the registry lists: ${String(count)}.`;
  if (reporter.format === 'github')
    reporter.fault({ code: 'UNLISTED_CHANGES', message, severity: 'warning', subgraph: null, line: null, column: null }, new Map());
  else reporter.line(message);
}

function printChange(change: PrintedChange, reporter: Reporter): void {
  const { paint } = reporter.terminal;
  const users = change.affected.map((operation) => `  used by ${describeOperation(operation)}`);
  const more = change.affectedCount - change.affected.length;
  const lines = [...users, ...(more > 0 ? [`  … and ${String(more)} more operations`] : [])];
  if (reporter.format === 'github') {
    const message = [change.message, ...lines].join('\n');
    reporter.fault(
      { code: change.type, message, severity: ANNOTATION[change.verdict], subgraph: null, line: null, column: null },
      new Map(),
    );
    return;
  }
  const note = change.verdict === 'pass' && change.isApproved !== true ? ' (no recorded operation uses it)' : '';
  const level = change.verdict === 'fail' ? paint.red(change.level) : paint.yellow(change.level);
  reporter.line(`${level} ${paint.bold(change.type)} ${stripControl(change.message)}${note}`);
  for (const line of lines) reporter.line(line);
}

function describeOperation({ name, hash, count, percent, lastSeen, clients }: AffectedOperation): string {
  const named = clients
    .slice(0, 3)
    .map((client) => `${client.name ?? 'an anonymous client'}${client.version === null ? '' : ` ${client.version}`}`);
  const rest = clients.length > 3 ? ` and ${String(clients.length - 3)} more` : '';
  const share = `${String(count)} requests, ${String(percent)} %, last ${lastSeen}`;
  return stripControl(`${name ?? hash.slice(0, 12)} of ${named.join(', ')}${rest} (${share})`);
}
