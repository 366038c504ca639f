/**
 * Remembers tags of clients whose mutation a subgraph may still execute. While a tag is held, what was read may become outdated at any time. No I/O.
 */
import { HOLD_MS, MAX_REMEMBERED_TAGS } from './result-store.ts';

export class HeldTags {
  /** When the hold of each tag ends, in this order. */
  readonly #endByTag = new Map<string, number>();

  /** Holds the tags for {@link HOLD_MS}. `now` is in milliseconds. */
  hold(tags: readonly string[], now: number): void {
    for (const tag of tags) {
      this.#endByTag.delete(tag);
      this.#endByTag.set(tag, now + HOLD_MS);
    }
  }

  /** Returns the tags that are held no longer, and must be invalidated now: their time is over, or there are too many. */
  takeEnded(now: number): readonly string[] {
    const ended: string[] = [];
    for (const [tag, end] of this.#endByTag) {
      if (end > now && this.#endByTag.size <= MAX_REMEMBERED_TAGS) break;
      this.#endByTag.delete(tag);
      ended.push(tag);
    }
    return ended;
  }

  /** Returns whether one of the tags is held. */
  hasAny(tags: readonly string[]): boolean {
    return this.#endByTag.size > 0 && tags.some((tag) => this.#endByTag.has(tag));
  }
}
