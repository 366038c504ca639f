/** Decides which changes may be published, by the operations that clients sent and by a policy. */
import { type GraphQLSchema, parse } from 'graphql';
import type { SchemaChange } from './changes.ts';
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
  /** Days between the first recorded request and the check. */
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
  readonly changes: readonly SchemaChange[];
  /** Undefined when nothing is recorded at all: then each breaking change fails. */
  readonly usage?: RecordedUsage | undefined;
  readonly policy?: UsagePolicy;
}

const LISTED = 20;

/** An operation with its uses, and what remains of its clients after exclusions. */
interface CountedOperation {
  readonly uses: ReadonlySet<string>;
  readonly affected: AffectedOperation;
}

/**
 * Returns the changes with their verdicts, in the given order. While a counted operation has a document that does not parse, there is never enough data:
 * what it uses is not known.
 */
export function decideChanges({ schema, changes, usage, policy = DEFAULT_POLICY }: DecideInput): DecidedChange[] {
  if (usage === undefined) return changes.map((change) => ({ ...change, ...NOT_RECORDED[change.level] }));
  const risky = changes.some(({ level }) => level !== 'safe');
  const { operations, total, isReadable } = risky ? countOperations(schema, usage, policy) : NO_OPERATIONS;
  const isEnough = usage.isComplete !== false && isReadable && total >= policy.enoughRequests && usage.days >= policy.enoughDays;
  const operationsByUse = groupByUse(operations);
  return changes.map((change) => {
    if (change.level === 'safe') return { ...change, verdict: 'pass' as const, affected: [], affectedCount: 0 };
    const affected = [...new Set(change.affects.flatMap((key) => operationsByUse.get(key) ?? []))]
      .filter(({ count, percent }) => count >= policy.minimumCount && percent >= policy.minimumPercent)
      .sort((left, right) => right.count - left.count);
    const verdict = decide(change, { isAffected: affected.length > 0, isEnough, policy });
    return { ...change, verdict, affected: affected.slice(0, LISTED), affectedCount: affected.length };
  });
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
    const { hash, name } = operation;
    const shares = clients.toSorted((left, right) => right.count - left.count);
    const lastSeen = clients.map((client) => client.lastSeen).reduce((last, each) => (each > last ? each : last));
    return [{ uses, affected: { hash, name, count, lastSeen, percent, clients: shares } }];
  });
  return { operations, total, isReadable: operations.length === counted.length };
}

/** A check may have as many changes as schemas have members: none of them looks at every operation. */
function groupByUse(operations: readonly CountedOperation[]): ReadonlyMap<string, readonly AffectedOperation[]> {
  const groups = new Map<string, AffectedOperation[]>();
  for (const { uses, affected } of operations)
    for (const use of uses) {
      const group = groups.get(use);
      if (group) group.push(affected);
      else groups.set(use, [affected]);
    }
  return groups;
}

function isCounted({ name, version }: ClientUsage, policy: UsagePolicy): boolean {
  if (name === null) return policy.anonymousClients === 'count';
  return !policy.excludedClients.some((excluded) => excluded === name || excluded === `${name}@${version ?? ''}`);
}

function usesOf(schema: GraphQLSchema, { text, seenInputs }: RecordedOperation): Set<string> | undefined {
  try {
    return collectUses(schema, parse(text, { noLocation: true, maxTokens: 100_000 }), seenInputs);
  } catch {
    return undefined;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
