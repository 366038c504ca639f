/**
 * Collects what the result of an operation is invalidated by: the tags that subgraphs send with their responses (`Cache-Tag` with commas between, and
 * `Surrogate-Key` with spaces between), and those of kept results that it has as parts, with their version.
 */
import type { FoundResult } from './result-store.ts';

/** The most tags of one operation, and the characters of a tag. */
export const MAX_TAGS = 200;
const TAG = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;

/** The tag of every result. */
export const ALL_TAG = 'all';

/** Returns whether a string may be a tag: 1 to 128 visible ASCII characters without a comma. */
export function isTag(text: string): boolean {
  return TAG.test(text);
}

/** Returns the tag of results with objects of a type. */
export function toTypeTag(type: string): string {
  return `type:${type}`;
}

/** Returns the tag of results whose subgraphs sent a tag. */
export function toReceivedTag(tag: string): string {
  return `tag:${tag}`;
}

export class ReceivedTags {
  readonly #tags = new Set<string>();
  #isComplete = true;
  #keptVersion = Infinity;

  /** Adds the tags of one response. `header` returns the value of a header field by its name in lower case. */
  add(header: (name: string) => string | undefined): void {
    const texts = [...split(header('cache-tag'), ','), ...split(header('surrogate-key'), ' ')];
    for (const text of texts) {
      if (this.#tags.size < MAX_TAGS && isTag(text)) this.#tags.add(toReceivedTag(text));
      else this.#isComplete = false;
    }
  }

  /** Adds the tags of a result that was kept, and its version. */
  addKept({ tags, partsVersion }: Pick<FoundResult, 'tags' | 'partsVersion'>): void {
    this.#keptVersion = Math.min(this.#keptVersion, partsVersion);
    for (const tag of tags) {
      if (this.#tags.has(tag)) continue;
      if (this.#tags.size < MAX_TAGS) this.#tags.add(tag);
      else this.#isComplete = false;
    }
  }

  /** The lowest version of the results that were kept; infinite without one. */
  get keptVersion(): number {
    return this.#keptVersion;
  }

  /** Undefined when there were too many tags, or one that is none: then it is not known what the responses depend on. */
  get all(): readonly string[] | undefined {
    return this.#isComplete ? [...this.#tags] : undefined;
  }
}

function split(value = '', separator: string): string[] {
  const texts = value.split(separator).map((text) => text.trim());
  return texts.filter((text) => text !== '');
}
