/** A subject of posts in the demo data. */

/** Describes a subject: its name, the tags of its posts, and sentences about it. */
export interface Subject {
  /** Name that fits after “a note on”. */
  readonly name: string;
  readonly tags: readonly string[];
  readonly facts: readonly [string, string, string, string];
}
