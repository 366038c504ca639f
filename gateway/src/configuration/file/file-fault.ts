/** A fault of a configuration file. */
export interface FileFault {
  /** The keys that lead to it, separated by dots; empty for the file as a whole. */
  readonly path: string;
  /** What is wrong. It never contains a value, which may be secret. */
  readonly message: string;
  /** Where it is in the text; undefined when the source is not text. */
  readonly offset: number | undefined;
}
