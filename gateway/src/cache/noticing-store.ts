/** A store of results that reports invalidations to what shares queries in flight: a response that began before one must not be kept after it. */
import type { Lookup, ManyFound, ManyWanted, ResultStore, StoredResult, Wanted } from './result-store.ts';

/**
 * Passes everything on to a store. Calls `onInvalidated` before the lookup that is the first to see a new version, also one that another process has
 * caused, and before an invalidation of this process ends.
 */
export class NoticingStore implements ResultStore {
  readonly #store: ResultStore;
  readonly #onInvalidated: () => void;
  #version: number | undefined;

  constructor(store: ResultStore, onInvalidated: () => void) {
    this.#store = store;
    this.#onInvalidated = onInvalidated;
  }

  find(wanted: Wanted, done: (lookup: Lookup | undefined) => void): void {
    this.#store.find(wanted, (lookup) => {
      this.#notice(lookup);
      done(lookup);
    });
  }

  findAll(wanted: ManyWanted, done: (lookup: ManyFound | undefined) => void): void {
    this.#store.findAll(wanted, (lookup) => {
      this.#notice(lookup);
      done(lookup);
    });
  }

  put(key: string, result: StoredResult): boolean {
    return this.#store.put(key, result);
  }

  invalidate(tags: readonly string[], done: (isShared: boolean) => void): void {
    this.#store.invalidate(tags, (isShared) => {
      this.#onInvalidated();
      done(isShared);
    });
  }

  hold(tags: readonly string[], done: (isShared: boolean) => void): void {
    this.#store.hold(tags, (isShared) => {
      this.#onInvalidated();
      done(isShared);
    });
  }

  close(): void {
    this.#store.close();
  }

  #notice(lookup: Pick<Lookup, 'version'> | undefined): void {
    if (!lookup || lookup.version === this.#version) return;
    this.#version = lookup.version;
    this.#onInvalidated();
  }
}
