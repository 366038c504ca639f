/**
 * Caches planned operations, bounded in number and in bytes, the least recently used first. It is a Map of our own on the hot path: a hit moves the
 * entry to the end at one of 64 uses only, and counts the use for {@link PreparedOperations.mostUsed}.
 */
import type { Prepared, PreparedError } from '../plan/planner.ts';
import type { Operation } from '../program/operation.ts';

const MAX_OPERATIONS = 2000;
const MAX_BYTES = 64 * 1024 * 1024;
/** The part of it for operations that were requested once: a client that sends ever new documents displaces no others. */
const MAX_UNUSED_BYTES = 16 * 1024 * 1024;

/** An operation that can be executed, or why it cannot. */
export type Ready =
  | { readonly operation: Operation }
  | { readonly errors: readonly PreparedError[]; readonly isPlanned: boolean; readonly reason: string | undefined };

export interface DocumentRequest {
  readonly query: string;
  readonly operationName: string | undefined;
}

interface Entry {
  readonly request: DocumentRequest;
  readonly ready: Ready;
  readonly bytes: number;
  uses: number;
}

export interface PreparedOperation {
  readonly request: DocumentRequest;
  readonly ready: Ready;
  readonly prepared: Prepared;
}

export class PreparedOperations {
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  get counts() {
    return { hits: this.#hits, misses: this.#misses };
  }

  get(key: string): Ready | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#hits++;
    // Most uses are of a few operations, which need not move at each.
    if ((entry.uses++ & 63) === 0) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.ready;
  }

  countMiss(): void {
    this.#misses++;
  }

  set(key: string, { request, ready, prepared }: PreparedOperation): void {
    const entry: Entry = { request, ready, bytes: estimateBytes(key, prepared), uses: 0 };
    this.#bytes += entry.bytes - (this.#entries.get(key)?.bytes ?? 0);
    this.#entries.set(key, entry);
    this.#evictUnused();
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#entries.size <= MAX_OPERATIONS && this.#bytes <= MAX_BYTES) break;
      this.#entries.delete(oldest);
      this.#bytes -= bytes;
    }
  }

  #evictUnused(): void {
    const unused = [...this.#entries].filter(([, { uses }]) => uses === 0);
    let unusedBytes = unused.reduce((sum, [, { bytes }]) => sum + bytes, 0);
    for (const [oldest, { bytes }] of unused) {
      if (unusedBytes <= MAX_UNUSED_BYTES) break;
      this.#entries.delete(oldest);
      unusedBytes -= bytes;
      this.#bytes -= bytes;
    }
  }

  /** Returns the documents of the operations that were used most, the most used first. */
  mostUsed(count: number): DocumentRequest[] {
    return [...this.#entries.values()]
      .filter(({ ready }) => 'operation' in ready)
      .sort((a, b) => b.uses - a.uses)
      .slice(0, count)
      .map(({ request }) => request);
  }
}

/** An object besides its members, and compiled code for each of its characters. */
const OBJECT_BYTES = 64;
const BYTES_PER_CODE_CHARACTER = 6;

function estimateBytes(key: string, prepared: Prepared): number {
  const code = 'program' in prepared ? BYTES_PER_CODE_CHARACTER * prepared.program.code.length : 0;
  return code + estimateValueBytes([key, prepared], new Set());
}

/** Counts two bytes for each character, and each object once: input types may contain themselves. */
function estimateValueBytes(value: unknown, seen: Set<unknown>): number {
  if (typeof value === 'string') return OBJECT_BYTES + 2 * value.length;
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0;
  seen.add(value);
  return Object.values(value).reduce<number>((sum, each) => sum + estimateValueBytes(each, seen), OBJECT_BYTES);
}
