/** Decides which changes may be published, by the operations that clients sent and by a policy. */
import { type DocumentNode, type GraphQLSchema, parse } from 'graphql';
import type { Compared } from './broken-spreads.ts';
import type { SchemaChange } from './schema-change.ts';
import { findNewConflicts } from './field-conflicts.ts';
import { collectUses } from './operation-uses.ts';
import { DEFAULT_POLICY, type UsagePolicy } from './policy.ts';

/** Describes how often one version of a client sent an operation. */
export interface ClientUsage {
  /** Null when the client did not name itself. */
  readonly name: string | null;
  readonly version: string | null;
  readonly count: number;
  /** Time of the last request, as an ISO 8601 string. */
  readonly lastSeen: string;
}

/** Describes an operation that clients sent in the time that is looked at. */
export interface RecordedOperation {
  readonly hash: string;
  readonly name: string | null;
  /** The document; literals may have been removed. */
  readonly text: string;
  readonly clients: readonly ClientUsage[];
  /** Coordinates of input fields and enum values that were given by variables. Undefined: not recorded, each may have been. */
  readonly seenInputs?: readonly string[];
}

/** Holds what was recorded, and for how long. */
export interface RecordedUsage {
  /** Days on which requests were recorded. */
  readonly days: number;
  readonly operations: readonly RecordedOperation[];
  /** False when there were operations that are not among these, or whose text is not known: then there is never enough data. Default: true. */
  readonly isComplete?: boolean;
}

/** Describes a client whose requests a change affects. */
export interface AffectedClient extends ClientUsage {
  /** Part of all counted requests, in percent. */
  readonly percent: number;
}

/** Describes an operation that a change affects. */
export interface AffectedOperation {
  readonly hash: string;
  readonly name: string | null;
  readonly count: number;
  readonly lastSeen: string;
  /** Part of all counted requests, in percent. */
  readonly percent: number;
  readonly clients: readonly AffectedClient[];
}

/** What is decided about a change or a whole check. `not_enough_data`: too little was recorded to say that nothing uses it. */
export type Verdict = 'pass' | 'warn' | 'fail' | 'not_enough_data';

/** A change with its verdict and the operations that it affects, most used first. */
export interface DecidedChange extends SchemaChange {
  readonly verdict: Verdict;
  /** At most 20; `affectedCount` counts all. */
  readonly affected: readonly AffectedOperation[];
  readonly affectedCount: number;
}

/** Configures a decision. */
export interface DecideInput {
  /** The schema that clients use now, to which the operations belong. */
  readonly schema: GraphQLSchema;
  /** The schema after the changes. */
  readonly next: GraphQLSchema;
  readonly changes: readonly SchemaChange[];
  /** Undefined when nothing is recorded at all: then each breaking change fails. */
  readonly usage?: RecordedUsage | undefined;
  readonly policy?: UsagePolicy;
}

const LISTED = 20;

/** An operation with its uses, and what remains of its clients after exclusions. */
interface CountedOperation {
  /** Parsed again when it is needed: ten thousand documents would not fit. */
  readonly text: string;
  readonly uses: ReadonlySet<string>;
  readonly affected: AffectedOperation;
}

/**
 * Returns the changes with their verdicts: breaking ones first, else in the given order. A safe change is breaking when it makes a counted operation
 * invalid. While a counted operation has a document that does not parse, there is never enough data: what it uses is not known.
 */
export function decideChanges({ schema, next, changes, usage, policy = DEFAULT_POLICY }: DecideInput): DecidedChange[] {
  if (usage === undefined) return changes.map((change) => ({ ...change, ...NOT_RECORDED[change.level] }));
  const isRisky = changes.some((change) => change.level !== 'safe' || mayConflict(change));
  const { operations, total, isReadable } = isRisky ? countOperations(schema, usage, policy) : NO_OPERATIONS;
  const isEnough = usage.isComplete !== false && isReadable && total >= policy.enoughRequests && usage.days >= policy.enoughDays;
  const operationsByUse = groupByUse(operations);
  const findConflicting = createConflictSearch(operationsByUse, { from: schema, to: next });
  const decided = changes.map((change) => {
    const isSafe = change.level === 'safe';
    if (isSafe && !mayConflict(change)) return { ...change, ...PASSED };
    const found = isSafe ? findConflicting(change) : [...new Set(change.affects.flatMap((key) => operationsByUse.get(key) ?? []))];
    const affected = found
      .map((operation) => operation.affected)
      .filter(({ count, percent }) => count >= policy.minimumCount && percent >= policy.minimumPercent)
      .sort((left, right) => right.count - left.count);
    if (isSafe && affected.length === 0) return { ...change, ...PASSED };
    const level = isSafe ? 'breaking' : change.level;
    const verdict = decide({ ...change, level }, { isAffected: affected.length > 0, isEnough, policy });
    return { ...change, level, verdict, affected: affected.slice(0, LISTED), affectedCount: affected.length };
  });
  return [...decided.filter(({ level }) => level === 'breaking'), ...decided.filter(({ level }) => level !== 'breaking')];
}

const PASSED = { verdict: 'pass', affected: [], affectedCount: 0 } as const;

/** Returns whether a change can make operations invalid by what else they select: it concerns the type of a field. */
function mayConflict({ type }: SchemaChange): boolean {
  return type === 'FIELD_TYPE_CHANGED';
}

/** Returns a function that finds the operations in which the changed field conflicts with others. Each is validated once. */
function createConflictSearch(operationsByUse: ReadonlyMap<string, readonly CountedOperation[]>, compared: Compared) {
  const conflicts = new Map<CountedOperation, ReadonlySet<string>>();
  const conflictsOf = (operation: CountedOperation) => {
    const found = conflicts.get(operation) ?? findNewConflicts(parseRecorded(operation.text), compared);
    conflicts.set(operation, found);
    return found;
  };
  return ({ coordinate }: SchemaChange): CountedOperation[] =>
    (operationsByUse.get(coordinate) ?? []).filter((operation) => conflictsOf(operation).has(coordinate));
}

const NO_OPERATIONS = { operations: [], total: 0, isReadable: true };

const NOT_RECORDED = {
  breaking: { verdict: 'fail', affected: [], affectedCount: 0 },
  dangerous: { verdict: 'warn', affected: [], affectedCount: 0 },
  safe: { verdict: 'pass', affected: [], affectedCount: 0 },
} as const;

interface Circumstances {
  readonly isAffected: boolean;
  readonly isEnough: boolean;
  readonly policy: UsagePolicy;
}

function decide(change: SchemaChange, { isAffected, isEnough, policy }: Circumstances): Verdict {
  if (change.level === 'breaking') {
    if (isAffected || (change.isInput && policy.inputs === 'always')) return 'fail';
    return isEnough ? 'pass' : 'not_enough_data';
  }
  const setting = change.isAddition ? policy.additions : policy.dangerous;
  // A dangerous change of what nothing uses, or of which too little is known, is never worth more than a warning.
  if (setting === 'ignore' || (!isAffected && isEnough)) return 'pass';
  return isAffected ? setting : 'warn';
}

/** An operation whose requests count. */
export interface CountedRequests {
  readonly operation: RecordedOperation;
  /** The clients that are not excluded, with the share of their requests. */
  readonly clients: readonly AffectedClient[];
  readonly count: number;
  /** Part of all counted requests, in percent. */
  readonly percent: number;
}

/** Returns the operations without excluded clients and operations; what remains counts as all requests. */
export function countRequests(usage: RecordedUsage, policy: UsagePolicy): { readonly counted: CountedRequests[]; readonly total: number } {
  const remaining = usage.operations.flatMap((operation) => {
    if (operation.name !== null && policy.excludedOperations.includes(operation.name)) return [];
    const clients = operation.clients.filter((client) => isCounted(client, policy));
    return clients.length === 0 ? [] : [{ operation, clients, count: sum(clients.map(({ count }) => count)) }];
  });
  const total = sum(remaining.map(({ count }) => count));
  const toPercent = (count: number) => (total === 0 ? 0 : Math.round((count / total) * 1e6) / 1e4);
  const counted = remaining.map(({ operation, clients, count }) => {
    const shares = clients.map((client) => ({ ...client, percent: toPercent(client.count) }));
    return { operation, count, percent: toPercent(count), clients: shares };
  });
  return { counted, total };
}

function countOperations(schema: GraphQLSchema, usage: RecordedUsage, policy: UsagePolicy) {
  const { counted, total } = countRequests(usage, policy);
  const operations = counted.flatMap(({ operation, clients, count, percent }): CountedOperation[] => {
    const uses = usesOf(schema, operation);
    if (uses === undefined) return [];
    const { hash, name, text } = operation;
    const shares = clients.toSorted((left, right) => right.count - left.count);
    const lastSeen = clients.map((client) => client.lastSeen).reduce((last, each) => (each > last ? each : last));
    return [{ text, uses, affected: { hash, name, count, lastSeen, percent, clients: shares } }];
  });
  return { operations, total, isReadable: operations.length === counted.length };
}

/** A check may have as many changes as schemas have members: none of them looks at every operation. */
function groupByUse(operations: readonly CountedOperation[]): ReadonlyMap<string, readonly CountedOperation[]> {
  const groups = new Map<string, CountedOperation[]>();
  for (const operation of operations)
    for (const use of operation.uses) {
      const group = groups.get(use);
      if (group) group.push(operation);
      else groups.set(use, [operation]);
    }
  return groups;
}

function isCounted({ name, version }: ClientUsage, policy: UsagePolicy): boolean {
  if (name === null) return policy.anonymousClients === 'count';
  return !policy.excludedClients.some((excluded) => excluded === name || excluded === `${name}@${version ?? ''}`);
}

function usesOf(schema: GraphQLSchema, { text, seenInputs }: RecordedOperation): Set<string> | undefined {
  try {
    return collectUses(schema, parseRecorded(text), seenInputs);
  } catch {
    return undefined;
  }
}

function parseRecorded(text: string): DocumentNode {
  return parse(text, { noLocation: true, maxTokens: 100_000 });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
