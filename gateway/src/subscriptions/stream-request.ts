/** The request of a response stream, and that of its source stream. No I/O. */
import type { FetchStep } from '../program/program.ts';
import type { RequestContext } from '../request/context.ts';
import { type Resume, toSourcePosition } from '../request/position.ts';
import type { DocumentRequest } from '../supergraph/prepared-operations.ts';
import type { PlannedOperation } from './execute-event.ts';
import type { SourceStreamOptions } from './source-stream.ts';

/** What a stream is requested with: everything that decides its results. */
export interface StreamRequest {
  readonly document: DocumentRequest;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The variables with the operation's defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  /** Whether events carry positions, and after which position the stream begins. */
  readonly resume: Resume | undefined;
  /** That of the first subscriber; the others share what is the same for all of them. */
  readonly context: RequestContext;
}

/** Returns the request of the source stream; undefined when the subgraph has no address. Throws GONE for a position of another subgraph. */
export function toSourceRequest(
  { context: { identity, requestId }, variables, resume }: StreamRequest,
  { snapshot, operation }: PlannedOperation,
): Omit<SourceStreamOptions, 'reconnectMs'> | undefined {
  const { service, operation: query, operationName, variables: names } = operation.program.source as FetchStep;
  const upstream = snapshot.upstream(service)?.subscriptions;
  if (!upstream) return undefined;
  const after = resume?.after === undefined ? undefined : toSourcePosition(service, resume.after);
  const payload = { query, operationName, variables: pick(variables, names) };
  return { upstream, identity, isPublic: operation.program.isPublic, requestId, payload, after };
}

/** Returns a string that differs when the address or the document of the source stream does; undefined when the subgraph has no address. */
export function identifySource({ snapshot, operation }: PlannedOperation): string | undefined {
  const { source } = operation.program;
  const upstream = source && snapshot.upstream(source.service);
  return upstream && [source.service, upstream.subscriptions.url, source.operation, source.operationName, ...source.variables].join('\n');
}

function pick(variables: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(variables, name) ? [[name, variables[name]]] : [])));
}
