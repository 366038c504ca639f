/** Everything that is derived from one supergraph: its planner, its subgraphs, the operations that were prepared for it. Swapped as one. */
import type { Operation } from '../program/operation.ts';
import { link } from '../program/operation.ts';
import type { PlannerThread } from '../plan/planner-thread.ts';
import type { Prepared, PreparedError } from '../plan/planner.ts';
import type { Upstream, Upstreams } from '../upstream/upstream.ts';

/** An operation that can be run, or why it can't. */
export type Ready =
  | { readonly operation: Operation }
  | { readonly errors: readonly PreparedError[]; readonly isPlanned: boolean; readonly reason: string | undefined };

export interface DocumentRequest {
  readonly query: string;
  readonly operationName: string | undefined;
}

export interface Snapshot {
  readonly hash: string;
  readonly planner: PlannerThread;
  /** The operation if it was prepared before. */
  find(request: DocumentRequest): Ready | undefined;
  /** Plans the operation unless it is planned already; `client` tells whose turn that takes. */
  prepare(request: DocumentRequest, client?: string): Promise<Ready>;
  upstream(service: string): Upstream | undefined;
  /** What was asked for most, most used first. */
  mostUsed(count: number): DocumentRequest[];
  readonly counts: { hits: number; misses: number };
}

export interface SnapshotOptions {
  readonly planner: PlannerThread;
  readonly upstreams: Upstreams;
  /** Labels of `@override` that hold from now on; those like `percent(20)` are decided for each request. */
  readonly labels: readonly string[];
  readonly random?: () => number;
}

/** Room for prepared operations: their number, and an estimate of the memory that they take. */
const MAX_OPERATIONS = 2000;
const MAX_BYTES = 64 * 1024 * 1024;

interface Entry {
  readonly request: DocumentRequest;
  readonly ready: Ready;
  readonly bytes: number;
}

export function createSnapshot({ planner, upstreams, labels, random = Math.random }: SnapshotOptions): Snapshot {
  const { facts } = planner;
  const entries = new Map<string, Entry>();
  const preparing = new Map<string, Promise<Ready>>();
  const lines = new Map(facts.subgraphs.map(({ name, url }) => [name, upstreams.open(name, url)]));
  const chooseLabels = createLabelChoice(facts.labels, labels, random);
  const counts = { hits: 0, misses: 0 };
  let bytes = 0;

  const add = (key: string, entry: Entry) => {
    bytes += entry.bytes - (entries.get(key)?.bytes ?? 0);
    entries.set(key, entry);
    for (const [oldest, { bytes: freed }] of entries) {
      if (entries.size <= MAX_OPERATIONS && bytes <= MAX_BYTES) break;
      entries.delete(oldest);
      bytes -= freed;
    }
  };
  const keyOf = ({ query, operationName }: DocumentRequest, chosen: readonly string[]) =>
    operationName === undefined && chosen.length === 0 ? query : `${chosen.join()}\n${operationName ?? ''}\n${query}`;

  return {
    hash: facts.hash,
    planner,
    counts,
    find(request) {
      const key = keyOf(request, chooseLabels());
      const entry = entries.get(key);
      if (!entry) return undefined;
      counts.hits++;
      // To the end, where what was used last stands; not at every use, since most uses are of the last few.
      if ('operation' in entry.ready && (entry.ready.operation.uses++ & 63) === 0) {
        entries.delete(key);
        entries.set(key, entry);
      }
      return entry.ready;
    },
    prepare({ query, operationName }, client) {
      // A request brings more than is to be kept.
      const request = { query, operationName };
      const chosen = chooseLabels();
      const key = keyOf(request, chosen);
      const running = preparing.get(key);
      if (running) return running;
      counts.misses++;
      const prepared = planner
        .prepare({ ...request, labels: chosen }, client)
        .then((answer) => {
          const ready = toReady(answer);
          add(key, { request, ready, bytes: sizeOf(key, answer) });
          return ready;
        })
        .finally(() => preparing.delete(key));
      preparing.set(key, prepared);
      return prepared;
    },
    upstream: (service) => lines.get(service),
    mostUsed: (count) =>
      [...entries.values()]
        .flatMap(({ request, ready }) => ('operation' in ready ? [{ request, uses: ready.operation.uses }] : []))
        .sort((a, b) => b.uses - a.uses)
        .slice(0, count)
        .map(({ request }) => request),
  };
}

/** What an object takes besides what it holds, and code that has been compiled for each of its characters. */
const OBJECT_BYTES = 64;
const BYTES_PER_CODE_CHARACTER = 6;

/** Estimates the memory of an entry in bytes. */
function sizeOf(key: string, prepared: Prepared): number {
  const code = 'program' in prepared ? BYTES_PER_CODE_CHARACTER * prepared.program.code.length : 0;
  return code + sizeOfValue([key, prepared], new Set());
}

/** Counts two bytes for each character, and each object once: input types may hold themselves. */
function sizeOfValue(value: unknown, seen: Set<unknown>): number {
  if (typeof value === 'string') return OBJECT_BYTES + 2 * value.length;
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0;
  seen.add(value);
  return Object.values(value).reduce<number>((sum, each) => sum + sizeOfValue(each, seen), OBJECT_BYTES);
}

function toReady(prepared: Prepared): Ready {
  if ('program' in prepared) return { operation: link(prepared.program) };
  return { errors: prepared.errors, isPlanned: prepared.isPlanned ?? false, reason: prepared.reason };
}

const NO_LABELS: readonly string[] = [];

/** The labels that hold for one request: those that are set, and `percent(n)` for n of a hundred requests. */
function createLabelChoice(known: readonly string[], set: readonly string[], random: () => number): () => readonly string[] {
  const fixed = known.filter((label) => set.includes(label));
  const shares = known.flatMap((label) => {
    const percent = /^percent\((\d+(?:\.\d+)?)\)$/.exec(label)?.[1];
    return percent === undefined ? [] : [{ label, percent: Number(percent) }];
  });
  if (shares.length === 0) return () => (fixed.length === 0 ? NO_LABELS : fixed);
  return () => {
    const drawn = random() * 100;
    return [...fixed, ...shares.filter(({ percent }) => drawn < percent).map(({ label }) => label)];
  };
}
