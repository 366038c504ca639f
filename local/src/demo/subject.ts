/** Something that people write about. */
export interface Subject {
  /** Fits into “a note on …”. */
  readonly name: string;
  readonly tags: readonly string[];
  readonly facts: readonly [string, string, string, string];
}
