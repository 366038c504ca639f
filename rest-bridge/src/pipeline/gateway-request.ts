/** The request to the gateway that an admitted request becomes. No I/O. */
import type { IncomingMessage } from 'node:http';
import type { IsAllowedOrigin } from '@trestle/service/edge/allowed-origin';
import { toClientHeaders } from '@trestle/service/clients/client-id';
import type { GraphQLRequest } from '../gateway/gateway-client.ts';
import { CACHE_HEADER } from '../gateway/graphql-result.ts';
import type { CompileOperation } from '../operations/operations.ts';
import type { FieldSelection } from '../query/field-selection.ts';
import type { CompiledOperationRoute } from './compile.ts';
import type { AdmittedRequest } from './context.ts';
import type { IdempotencyKey } from './idempotency-key.ts';

/** An operation with a field selection, its variables and its headers. */
export interface GatewayRequest extends Pick<GraphQLRequest, 'variables' | 'files' | 'headers' | 'trace' | 'cancellation' | 'responseEnd'> {
  readonly operation: CompileOperation;
  readonly selection: FieldSelection;
  readonly isMutation: boolean;
  /** The names by which the client has sent arguments, or fields of the input, where they differ. */
  readonly sentNames?: Readonly<Record<string, string>> | undefined;
}

/** The parts of a gateway request that differ between the operation of a route and the query for the state of its resource. */
export interface GatewayRequestParts extends Pick<
  GatewayRequest,
  'operation' | 'selection' | 'isMutation' | 'variables' | 'files' | 'sentNames'
> {
  readonly idempotency?: IdempotencyKey | undefined;
  readonly sessionHeaders?: Readonly<Record<string, string>> | undefined;
}

/** Returns a gateway request with the credential, the request id, the client id and the trace of the client's request. */
export function toGatewayRequest(
  { context, authorization }: AdmittedRequest<CompiledOperationRoute>,
  { operation, selection, isMutation, variables, files, sentNames, idempotency, sessionHeaders }: GatewayRequestParts,
): GatewayRequest {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'x-request-id': context.requestId };
  const [clientHeader, clientId] = toClientHeaders(context.request);
  if (clientHeader !== undefined && clientId !== undefined) headers[clientHeader] = clientId;
  if (authorization !== undefined) headers['authorization'] = authorization;
  else if (!isMutation) headers[CACHE_HEADER] = '1';
  if (idempotency) {
    headers['idempotency-key'] = idempotency.key;
    headers['idempotency-scope'] = idempotency.scope;
  }
  if (sessionHeaders) Object.assign(headers, sessionHeaders);
  const { trace, responseEnd } = context;
  const cancellation = isMutation ? undefined : context.cancellation;
  return { operation, selection, isMutation, variables, files, sentNames, headers, trace, cancellation, responseEnd };
}

/**
 * Returns the headers that routes of sessions pass on: `User-Agent`, and from an allowed origin `Cookie` and `Origin`. The gateway relies
 * on this check, because it sees the bridge's own address.
 */
export function toSessionHeaders(request: IncomingMessage, isAllowedOrigin: IsAllowedOrigin): Readonly<Record<string, string>> {
  const { cookie, origin, 'user-agent': userAgent } = request.headers;
  const isFromOrigin = isAllowedOrigin(request);
  return {
    ...(userAgent !== undefined && { 'user-agent': userAgent }),
    ...(isFromOrigin && origin !== undefined && { origin }),
    ...(isFromOrigin && cookie !== undefined && { cookie }),
  };
}
