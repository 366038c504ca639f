/**
 * The configuration files as a process has accepted them. A worker that is started later begins with them, not with what the files have become: what
 * takes effect at the next start would differ between workers, and a fault in a file would leave the gateway without workers. No I/O.
 */

export interface AcceptedFiles {
  /** The configuration file of the process; undefined without one. */
  readonly file: string | undefined;
  /** By path. A module, which is executed, has no text. */
  readonly texts: ReadonlyMap<string, string>;
}

interface Loaded {
  readonly configuration: { readonly file: string | undefined; readonly text: string | undefined };
}

/** Returns the files of a process and of its graphs. */
export function toAcceptedFiles({
  configuration,
  graphs,
}: Loaded & { readonly graphs: readonly { readonly config: Loaded }[] }): AcceptedFiles {
  const texts = new Map<string, string>();
  for (const { file, text } of [configuration, ...graphs.map(({ config }) => config.configuration)])
    if (file !== undefined && text !== undefined) texts.set(file, text);
  return { file: configuration.file, texts };
}
