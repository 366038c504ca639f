/**
 * Caches planned operations, bounded in number and in bytes; the least recently used are removed first. It is not an `lru-cache`, because operations
 * that were requested once have a smaller bound of bytes within the common one, and because it counts uses for {@link PreparedOperations.mostUsed}.
 * A hit moves its entry at one of 64 uses only: the cache is read by every request.
 */
import { createHash } from 'node:crypto';
import type { Access, AccessRule } from '../access/access-rule.ts';
import type { Prepared, PreparedError } from '../plan/planner.ts';
import type { Operation } from '../program/operation.ts';
import type { IncrementalFormat } from '../request/operation.ts';

const MAX_OPERATIONS = 2000;
const MAX_BYTES = 64 * 1024 * 1024;
/** The bound for operations that were requested once: a client that always sends new documents displaces none that are used. */
const MAX_UNUSED_BYTES = 16 * 1024 * 1024;
/** A larger operation, mostly with results of introspection, is kept when it is planned for the second time. */
const MAX_FIRST_BYTES = 256 * 1024;
/** A digest takes less than 200 bytes, so all of them less than 200 KB. */
const MAX_PLANNED_ONCE = 1000;

/** An operation that can be executed, or why it cannot. */
export type Executable =
  | { readonly operation: Operation }
  | { readonly errors: readonly PreparedError[]; readonly isPlanned: boolean; readonly reason: string | undefined };

/** What is cached for a document: an operation for all callers, or the rules whose outcome chooses one of several. */
export type Ready = Executable | { readonly rules: readonly AccessRule[]; readonly outcomes: WeakMap<Access, string> };

export interface DocumentRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  /** Set for a client that takes incremental delivery. */
  readonly incremental?: IncrementalFormat | undefined;
}

/** A document, and the rights of the caller and the labels of `@override` that it was planned for. */
export interface UsedDocument {
  readonly request: DocumentRequest;
  readonly access: Access;
  readonly labels: readonly string[];
}

interface Entry extends UsedDocument {
  readonly ready: Ready;
  readonly bytes: number;
  uses: number;
}

export interface PreparedOperation extends UsedDocument {
  readonly ready: Ready;
  readonly prepared: Prepared;
}

export class PreparedOperations {
  readonly #entries = new Map<string, Entry>();
  /** Digests of the keys of large operations that were planned once, the oldest first. */
  readonly #plannedOnce = new Set<string>();
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
    // Most uses are of a few operations, which need not move each time.
    if ((entry.uses++ & 63) === 0) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.ready;
  }

  /** Returns an entry without counting its use. */
  peek(key: string): Ready | undefined {
    return this.#entries.get(key)?.ready;
  }

  countMiss(): void {
    this.#misses++;
  }

  set(key: string, { request, access, labels, ready, prepared }: PreparedOperation): void {
    const entry: Entry = { request, access, labels, ready, bytes: estimateBytes(key, prepared), uses: 0 };
    if (entry.bytes > MAX_FIRST_BYTES && !this.#isPlannedAgain(key)) return;
    this.#bytes += entry.bytes - (this.#entries.get(key)?.bytes ?? 0);
    this.#entries.set(key, entry);
    this.#evictUnused();
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#entries.size <= MAX_OPERATIONS && this.#bytes <= MAX_BYTES) break;
      this.#entries.delete(oldest);
      this.#bytes -= bytes;
    }
  }

  #isPlannedAgain(key: string): boolean {
    const digest = createHash('sha256').update(key).digest('base64');
    if (this.#plannedOnce.delete(digest)) return true;
    if (this.#plannedOnce.size >= MAX_PLANNED_ONCE) this.#plannedOnce.delete(this.#plannedOnce.values().next().value ?? '');
    this.#plannedOnce.add(digest);
    return false;
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
  mostUsed(count: number): UsedDocument[] {
    return [...this.#entries.values()]
      .filter(({ ready }) => 'operation' in ready)
      .sort((a, b) => b.uses - a.uses)
      .slice(0, count)
      .map(({ request, access, labels }) => ({ request, access, labels }));
  }
}

/** The size of an object without its members, and of compiled code for each character of its source. */
const OBJECT_BYTES = 64;
const BYTES_PER_CODE_CHARACTER = 6;

function estimateBytes(key: string, prepared: Prepared): number {
  const code = 'program' in prepared ? BYTES_PER_CODE_CHARACTER * prepared.program.code.length : 0;
  return code + estimateValueBytes([key, prepared], new Set());
}

/** Counts two bytes for each character, and each object once: input types may contain themselves. */
function estimateValueBytes(value: unknown, seen: Set<unknown>): number {
  if (typeof value === 'string') return OBJECT_BYTES + 2 * value.length;
  if (value instanceof Uint8Array) return OBJECT_BYTES + value.length;
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0;
  seen.add(value);
  return Object.values(value).reduce<number>((sum, each) => sum + estimateValueBytes(each, seen), OBJECT_BYTES);
}
