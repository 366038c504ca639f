/** What is wrong with a schema or a document, and where: the form that all parts of this package report. */
import type { ASTNode, GraphQLError } from 'graphql';

/** Says whether a fault prevents a publish (`error`), or is only reported. */
export type Severity = 'error' | 'warning' | 'info';

/** Describes one fault. Lines and columns start at 1 and are null when the fault has no place of its own. */
export interface GraphFault {
  readonly code: string;
  readonly message: string;
  readonly severity: Severity;
  /** Name of the subgraph or document whose text has the fault, or null. */
  readonly subgraph: string | null;
  readonly line: number | null;
  readonly column: number | null;
}

/** Holds what a fault is before its place is known. */
export type FaultText = Pick<GraphFault, 'code' | 'message' | 'severity'>;

/** Returns a fault without a place. */
export function faultWithoutPlace(text: FaultText): GraphFault {
  return { ...text, subgraph: null, line: null, column: null };
}

/**
 * Returns a fault at the first node that has a location, and of these in a source of `preferred` if there is one. The name of the node's source
 * becomes `subgraph`.
 */
export function faultAtNodes(text: FaultText, nodes: readonly ASTNode[], preferred: readonly string[] = []): GraphFault {
  const locs = nodes.flatMap(({ loc }) => loc ?? []);
  const loc = locs.find(({ source }) => preferred.includes(source.name)) ?? locs[0];
  if (loc === undefined) return faultWithoutPlace(text);
  return { ...text, subgraph: loc.source.name, line: loc.startToken.line, column: loc.startToken.column };
}

/**
 * Returns the fault that an error of graphql-js or of a composer describes. Its code is that of its extensions, or `fallback`. An error without
 * extensions, such as the RangeError for a schema that is nested too deeply, has no place.
 */
export function faultOfError(error: Error | GraphQLError, fallback: string, preferred: readonly string[] = []): GraphFault {
  if (!('extensions' in error)) return faultWithoutPlace({ code: fallback, message: error.message, severity: 'error' });
  const code = error.extensions['code'];
  const text: FaultText = { code: typeof code === 'string' ? code : fallback, message: error.message, severity: 'error' };
  const placed = faultAtNodes(text, error.nodes ?? [], preferred);
  const [first] = error.locations ?? [];
  if (placed.line !== null || first === undefined) return placed;
  return { ...text, subgraph: error.source?.name ?? null, line: first.line, column: first.column };
}
