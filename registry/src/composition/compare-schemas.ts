/** Compares the public schemas before and after a change, for a check. CPU-bound: runs in the thread of composition. No I/O. */
import { createHash } from 'node:crypto';
import { listChanges } from '@trestle/graph-checks/changes';
import { decideChanges } from '@trestle/graph-checks/usage';
import { type GraphQLSchema, buildSchema } from 'graphql';
import type { SchemaChange, UnlistedChange } from '../records.ts';
import type { Comparison } from './compose-task.ts';
import { type ChangeVerdict, changeVerdictOf, toDecision } from './decision.ts';

const MAX_CHANGES = 1000;

/**
 * The schema that clients see now, and what they sent. `contract`: whose clients they are, if not those of the whole graph. `supergraphSdl`: undefined
 * where it is not compared what callers may read.
 */
export type ComparedWith = Pick<Comparison, 'apiSdl'> &
  Partial<Pick<Comparison, 'usage' | 'policy' | 'supergraphSdl'>> & { readonly contract?: string };

/** The schema that clients would see. */
export interface Proposed {
  readonly api: GraphQLSchema;
  readonly supergraphSdl: string;
}

/** The changes between two public schemas. */
export interface ComparedSchemas {
  /** At most 1,000, those that fail a check before all others. Breaking changes are the first of the list. */
  readonly changes: readonly SchemaChange[];
  /** The further ones that a check does not pass, with those that fail it first. */
  readonly unlisted: readonly UnlistedChange[];
}

/** Returns the changes between two public schemas. Those of a contract have ids of their own, so that they are approved by themselves. */
export async function compareSchemas(
  { apiSdl, supergraphSdl: from, usage, policy, contract }: ComparedWith,
  { api: after, supergraphSdl: to }: Proposed,
): Promise<ComparedSchemas> {
  if (apiSdl === undefined) return { changes: [], unlisted: [] };
  const schema = buildSchema(apiSdl, { assumeValidSDL: true });
  const changes = await listChanges(schema, after, from === undefined ? undefined : { from, to });
  const decided = decideChanges({ schema, next: after, changes, usage, ...(policy && { policy }) });
  return limitChanges(
    decided.map(({ type: kind, level: name, coordinate, message, ...decision }) => {
      const id = createHash('sha256')
        .update(JSON.stringify([name, kind, coordinate, message, ...(contract === undefined ? [] : [contract])]))
        .digest('hex')
        .slice(0, 32);
      return { id, level: LEVELS[name], kind, coordinate, message, decision: toDecision(decision) };
    }),
  );
}

const LEVELS = { breaking: 'BREAKING', dangerous: 'DANGEROUS', safe: 'SAFE' } as const;
const RANKS: Record<ChangeVerdict, number> = { FAIL: 0, NOT_ENOUGH_DATA: 1, WARN: 2, PASS: 3 };

/** A change is left out by its verdict: what is left out by its name could be the one change that breaks a client. */
function limitChanges(changes: readonly SchemaChange[]): ComparedSchemas {
  if (changes.length <= MAX_CHANGES) return { changes, unlisted: [] };
  const ranked = changes
    .map((change) => ({ change, verdict: changeVerdictOf(change) }))
    .sort((one, other) => RANKS[one.verdict] - RANKS[other.verdict]);
  const listed = new Set(ranked.slice(0, MAX_CHANGES).map(({ change }) => change));
  const unlisted = ranked.slice(MAX_CHANGES).flatMap(({ change: { id }, verdict }) => {
    return verdict === 'FAIL' || verdict === 'NOT_ENOUGH_DATA' ? [{ id, verdict }] : [];
  });
  return { changes: changes.filter((change) => listed.has(change)), unlisted };
}
