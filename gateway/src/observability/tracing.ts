/** Attributes of the gateway's spans (OpenTelemetry semantic conventions: HTTP server spans, GraphQL server spans). */
import type { IncomingMessage } from 'node:http';
import { ATTR_HTTP_REQUEST_METHOD, ATTR_NETWORK_PROTOCOL_NAME, ATTR_URL_PATH, ATTR_URL_SCHEME } from '@opentelemetry/semantic-conventions';
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
  readonly target: RequestTarget;
}

/** What spans contain of the URL of a request. */
export interface RequestTarget {
  readonly isEncrypted: boolean;
  /** Whether the path is one that the gateway serves; any other one may contain personal data. */
  readonly isServed: boolean;
}

/** Returns whether a request is for the path, with a query or without. */
export function isAt({ url = '/' }: Pick<IncomingMessage, 'url'>, path: string): boolean {
  return url.startsWith(path) && (url.length === path.length || url[path.length] === '?');
}

/** Returns the target of an HTTP request to the route. */
export function toTarget(request: IncomingMessage, route: string): RequestTarget {
  const { socket } = request;
  return { isEncrypted: 'encrypted' in socket && socket.encrypted === true, isServed: isAt(request, route) };
}

/** Ends the SERVER span of a request. The document is left out: it may contain personal data. */
export function endRequestSpan(scope: Scope, { method, route, status, operation, kind, headers, target }: EndedRequest): void {
  if (!scope.isExported) return;
  const attributes = toOperationAttributes({ name: operation, kind });
  attributes[ATTR_URL_SCHEME] = target.isEncrypted ? 'https' : 'http';
  if (target.isServed) attributes[ATTR_URL_PATH] = route;
  if (method === 'WS') Object.assign(attributes, OF_WEBSOCKETS);
  if (headers) Object.assign(attributes, toHeaderAttributes(headers));
  endServerSpan(scope, { method, route: target.isServed ? route : undefined, status }, attributes);
}

/** `WS` is no method of HTTP: an operation is sent over what a GET has opened. */
const OF_WEBSOCKETS = { [ATTR_HTTP_REQUEST_METHOD]: 'GET', [ATTR_NETWORK_PROTOCOL_NAME]: 'websocket' };

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
