/** What a check keeps of the decision about a change, with the most used operations that it affects. */
import type { DecidedChange, Verdict } from '@trestle/graph-checks/usage';

/** What is decided about a change. */
export type ChangeVerdict = 'PASS' | 'WARN' | 'FAIL' | 'NOT_ENOUGH_DATA';

/** A version of a client that sends an operation. */
export interface AffectedClient {
  readonly name: string | null;
  readonly version: string | null;
  readonly requests: number;
  readonly percent: number;
  readonly lastSeen: string;
}

/** An operation that a change affects. */
export interface AffectedOperation {
  readonly hash: string;
  readonly name: string | null;
  readonly requests: number;
  readonly percent: number;
  readonly lastSeen: string;
  /** Those with the most requests. */
  readonly clients: readonly AffectedClient[];
  readonly clientCount: number;
}

/** The decision about a change. */
export interface ChangeDecision {
  readonly verdict: ChangeVerdict;
  readonly affected: readonly AffectedOperation[];
  readonly affectedCount: number;
}

/** A check may have a thousand changes. */
const MAX_OPERATIONS = 5;
const MAX_CLIENTS = 5;

const VERDICTS: Record<Verdict, ChangeVerdict> = { pass: 'PASS', warn: 'WARN', fail: 'FAIL', not_enough_data: 'NOT_ENOUGH_DATA' };

/** Returns what is kept of a decision. */
export function toDecision({
  verdict,
  affected,
  affectedCount,
}: Pick<DecidedChange, 'verdict' | 'affected' | 'affectedCount'>): ChangeDecision {
  const operations = affected.slice(0, MAX_OPERATIONS).map(({ hash, name, count, percent, lastSeen, clients }) => ({
    ...{ hash, name, requests: count, percent, lastSeen },
    clients: clients.slice(0, MAX_CLIENTS).map((client) => ({
      ...{ name: client.name, version: client.version, requests: client.count, percent: client.percent, lastSeen: client.lastSeen },
    })),
    clientCount: clients.length,
  }));
  return { verdict: VERDICTS[verdict], affected: operations, affectedCount };
}

/** The parts of a change that its verdict follows from. */
interface DecidedLevel {
  readonly level: 'BREAKING' | 'DANGEROUS' | 'SAFE';
  readonly decision?: ChangeDecision;
}

/** Returns what is decided about a change, before its approval. Without usage every breaking change fails. */
export function changeVerdictOf({ level, decision }: DecidedLevel): ChangeVerdict {
  return decision?.verdict ?? ({ BREAKING: 'FAIL', DANGEROUS: 'WARN', SAFE: 'PASS' } as const)[level];
}
