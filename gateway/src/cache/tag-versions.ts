/** Remembers when tags were invalidated, bounded in number: the invalidation that is forgotten first invalidates everything that is older. */
import { MAX_REMEMBERED_TAGS } from './result-store.ts';

export class TagVersions {
  readonly #byTag = new Map<string, number>();
  readonly #maxTags: number;
  #current = 0;
  /** Results of lower versions are invalid. */
  #lowest = 0;

  constructor(maxTags = MAX_REMEMBERED_TAGS) {
    this.#maxTags = maxTags;
  }

  /** The version of a result whose execution begins now. */
  get current(): number {
    return this.#current;
  }

  /** Invalidates what has one of these tags now. */
  invalidate(tags: readonly string[]): void {
    const version = ++this.#current;
    for (const tag of tags) {
      this.#byTag.delete(tag);
      this.#byTag.set(tag, version);
    }
    for (const [oldest, forgotten] of this.#byTag) {
      if (this.#byTag.size <= this.#maxTags) break;
      this.#byTag.delete(oldest);
      this.#lowest = forgotten;
    }
  }

  /** Returns whether none of the tags was invalidated since the version. */
  isValid(version: number, tags: readonly string[]): boolean {
    return version >= this.#lowest && tags.every((tag) => (this.#byTag.get(tag) ?? 0) <= version);
  }
}
