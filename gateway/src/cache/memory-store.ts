/** Keeps results in the memory of the process, bounded in bytes; the least recently used are removed first. */
import { LRUCache } from 'lru-cache';
import { HeldTags } from './held-tags.ts';
import {
  type FoundResult,
  type Lookup,
  MAX_RESULT_BYTES,
  type ManyFound,
  type ManyWanted,
  type ResultStore,
  type StoredResult,
  type Wanted,
} from './result-store.ts';
import { TagVersions } from './tag-versions.ts';

/** What an entry takes beside its bytes and tags: its key, objects, and its place in the list. */
const ENTRY_BYTES = 512;
const BYTES_PER_CHARACTER = 2;

interface Entry extends Omit<StoredResult, 'ageMs' | 'keptMs'> {
  /** By the clock of {@link MemoryStoreOptions.now}. */
  readonly bornAt: number;
  readonly expiresAt: number;
}

export interface MemoryStoreOptions {
  readonly maxBytes: number;
  /** Returns milliseconds; by default those of the process. */
  readonly now?: () => number;
}

export class MemoryStore implements ResultStore {
  readonly #entries: LRUCache<string, Entry>;
  readonly #versions = new TagVersions();
  readonly #held = new HeldTags();
  readonly #now: () => number;

  constructor({ maxBytes, now = () => performance.now() }: MemoryStoreOptions) {
    this.#now = now;
    this.#entries = new LRUCache<string, Entry>({
      maxSize: maxBytes,
      maxEntrySize: Math.min(maxBytes, MAX_RESULT_BYTES + ENTRY_BYTES * 100),
      sizeCalculation: sizeOf,
    });
  }

  /** Bytes of all results, with what their entries take. */
  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  find({ key, tags }: Wanted, done: (lookup: Lookup) => void): void {
    const isHeld = this.#isHeld(tags);
    done({ version: this.#versions.current, isHeld, found: isHeld ? undefined : this.#find(key, tags) });
  }

  findAll({ keys, tags }: ManyWanted, done: (lookup: ManyFound) => void): void {
    const isHeld = this.#isHeld(tags);
    done({ version: this.#versions.current, isHeld, found: keys.map((key) => (isHeld ? undefined : this.#find(key, tags))) });
  }

  #isHeld(tags: readonly string[]): boolean {
    this.#endHolds();
    return this.#held.hasAny(tags);
  }

  /** What was read while a tag was held may be older than the mutation. */
  #endHolds(): void {
    const ended = this.#held.takeEnded(this.#now());
    if (ended.length > 0) this.#versions.invalidate(ended);
  }

  #find(key: string, tags: readonly string[]): FoundResult | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const now = this.#now();
    if (now >= entry.expiresAt || !this.#versions.isValid(entry.version, entry.tags)) {
      this.#entries.delete(key);
      return undefined;
    }
    const { bytes, policy, partsVersion, bornAt } = entry;
    return this.#versions.isValid(partsVersion, tags) ? { bytes, policy, tags: entry.tags, partsVersion, ageMs: now - bornAt } : undefined;
  }

  put(key: string, { bytes, policy, tags, version, partsVersion, ageMs, keptMs }: StoredResult): boolean {
    if (bytes.length > MAX_RESULT_BYTES || !this.#versions.isValid(version, tags)) return false;
    const known = this.#entries.peek(key);
    if (known && known.version > version) return false;
    const bornAt = this.#now() - ageMs;
    this.#entries.set(key, { bytes, policy, tags, version, partsVersion, bornAt, expiresAt: bornAt + keptMs });
    return true;
  }

  invalidate(tags: readonly string[], done: (isShared: boolean) => void): void {
    this.#versions.invalidate(tags);
    done(true);
  }

  hold(tags: readonly string[], done: (isShared: boolean) => void): void {
    this.#held.hold(tags, this.#now());
    this.#endHolds();
    this.invalidate(tags, done);
  }

  close(): void {
    this.#entries.clear();
  }
}

function sizeOf({ bytes, tags }: Entry): number {
  return tags.reduce((sum, tag) => sum + tag.length * BYTES_PER_CHARACTER, ENTRY_BYTES + bytes.length);
}
