/** The table of all kinds of jobs, and the ids by which a job's kind and subgraph are known (contract §2). No I/O. */
import type { SubgraphName } from '@trestle/schema/subgraphs';
import { type CreateId, prefixOf } from '../values/ids.ts';

interface JobKindDefinition {
  /** The last character of the ids of these jobs. */
  readonly letter: string;
  /** The GraphQL type. */
  readonly type: string;
  /** The subgraph in whose database the jobs are. */
  readonly subgraph: SubgraphName;
  /** Whether such a job is a consequence of another one, for administrators alone. */
  readonly isInternal: boolean;
  /** How often a job is attempted before it fails. */
  readonly maxAttempts: number;
  /** How long an attempt may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** Maps each kind to its definition. The names are those of the GraphQL enum `JobKind`. */
export const JOB_KINDS = {
  PUBLISH_VIDEO: { letter: 'v', type: 'PublishVideoJob', subgraph: 'content', isInternal: false, maxAttempts: 5, timeoutMs: 5 * 60_000 },
  RESET_PASSWORD: { letter: 'p', type: 'ResetPasswordJob', subgraph: 'users', isInternal: false, maxAttempts: 5, timeoutMs: 10_000 },
  SEND_MAIL: { letter: 'm', type: 'SendMailJob', subgraph: 'users', isInternal: true, maxAttempts: 8, timeoutMs: 60_000 },
} as const satisfies Record<string, JobKindDefinition>;

/** Names one kind of jobs. */
export type JobKind = keyof typeof JOB_KINDS;

const KINDS = Object.entries(JOB_KINDS) as [JobKind, (typeof JOB_KINDS)[JobKind]][];
const KIND_BY_LETTER: ReadonlyMap<string, JobKind> = new Map(KINDS.map(([kind, { letter }]) => [letter, kind]));

/** Returns the id of a new job: its last character says the kind, and the 14 before it are random (70 bits). */
export function createJobId(kind: JobKind, createId: CreateId): string {
  return createId('job').slice(0, -1) + JOB_KINDS[kind].letter;
}

/** Returns the kind of the job with this id; undefined for a string that is not a job's id. */
export function jobKindOf(id: string): JobKind | undefined {
  return prefixOf(id) === 'job' ? KIND_BY_LETTER.get(id.slice(-1)) : undefined;
}

/** Returns a predicate: whether a string is the id of a job in this subgraph's database. */
export function isJobOf(subgraph: SubgraphName): (id: string) => boolean {
  return (id) => {
    const kind = jobKindOf(id);
    return kind !== undefined && JOB_KINDS[kind].subgraph === subgraph;
  };
}
