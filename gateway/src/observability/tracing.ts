/** Attributes of the gateway's spans (OpenTelemetry semantic conventions: HTTP server spans, GraphQL server spans). */
import { ATTR_GRAPHQL_OPERATION_NAME, ATTR_GRAPHQL_OPERATION_TYPE } from '@opentelemetry/semantic-conventions/incubating';
import type { Scope } from '@trestle/telemetry';
import { endServerSpan, toHeaderAttributes } from '@trestle/telemetry/http';
import type { ServedLaunch } from '../launches/delivered.ts';
import type { RecordedHeaders } from './recorded-headers.ts';

interface EndedRequest {
  /** The HTTP method, or `WS` for an operation over a WebSocket. */
  readonly method: string;
  /** The path. */
  readonly route: string;
  readonly status: number;
  readonly operation: string | undefined;
  readonly kind: string | undefined;
  readonly headers: RecordedHeaders | undefined;
}

/** Ends the SERVER span of a request. The document is left out: it may contain personal data. */
export function endRequestSpan(scope: Scope, { method, route, status, operation, kind, headers }: EndedRequest): void {
  if (!scope.isExported) return;
  const attributes = toOperationAttributes({ name: operation, kind });
  endServerSpan(scope, { method, route, status }, headers ? { ...attributes, ...toHeaderAttributes(headers) } : attributes);
}

/** Starts the span of an execution; undefined for a trace that is not exported. */
export function startExecution(
  scope: Scope | undefined,
  program: { readonly name: string | undefined; readonly kind: string | undefined },
  launch: ServedLaunch | undefined,
): Scope | undefined {
  if (!scope?.isExported) return undefined;
  return scope.start('GraphQL execute', { ...toOperationAttributes(program), ...toLaunchAttributes(launch) });
}

/** Returns `graphql.operation.name` and `graphql.operation.type`, each only when it is known. */
function toOperationAttributes({ name, kind }: { readonly name: string | undefined; readonly kind: string | undefined }) {
  const attributes: Record<string, string> = {};
  if (name !== undefined) attributes[ATTR_GRAPHQL_OPERATION_NAME] = name;
  if (kind !== undefined) attributes[ATTR_GRAPHQL_OPERATION_TYPE] = kind;
  return attributes;
}

/** Returns `trestle.launch.id` and `trestle.launch.release`; nothing for a supergraph that does not come from the registry. */
function toLaunchAttributes(served: ServedLaunch | undefined): Record<string, string | number> {
  return served ? { 'trestle.launch.id': served.launch, 'trestle.launch.release': served.release } : {};
}
