/** Stage 6 for requests that create: evaluates conditions on the collection, and reads the account that the request names (RFC 9110 §13). */
import type { IncomingHttpHeaders } from 'node:http';
import { holdsOneOf, insufficientScope, nearestAlternative } from '@trestle/identity/required-scopes';
import type { Fault } from '@trestle/schema/errors';
import { ID_LENGTH } from '@trestle/schema/lengths';
import { toEncodedTag } from '@trestle/service/messages/encoding';
import { toJson } from '@trestle/service/process/json-bytes';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import { evaluateReadConditions, toEtag } from '../http/conditional.ts';
import { call } from './call.ts';
import { STATE_SELECTION, preconditionFailed } from './check.ts';
import type { CompiledOperationRoute } from './compile.ts';
import type { AdmittedRequest } from './context.ts';
import { type GatewayRequest, toGatewayRequest } from './gateway-request.ts';
import { parse } from './parse.ts';

type Creation = AdmittedRequest<CompiledOperationRoute>;

const ENCODINGS = ['identity', 'br', 'gzip'] as const;

/** Throws what a creation is refused with by the state of its collection, or of the account that it names: NOT_FOUND, GONE or PRECONDITION_FAILED. */
export async function checkCreation(gateway: GatewayClient, admitted: Creation, { variables }: GatewayRequest): Promise<void> {
  await checkCollection(gateway, admitted, { isPathChecked: false });
  await requireAccount(gateway, admitted, variables);
}

/**
 * Throws what a creation is refused with before its faulty body is: NOT_FOUND or GONE when the resource or the account in its path does not exist, and
 * PRECONDITION_FAILED. Does nothing for a route that does not create.
 */
export async function checkFaultyCreation(gateway: GatewayClient, admitted: Creation): Promise<void> {
  const { compiled, params } = admitted;
  const { accountField, input } = compiled.route;
  await checkCollection(gateway, admitted, { isPathChecked: Object.keys(params).length > 0 });
  const name = input.kind === 'body' ? input.rule.fromPath?.[accountField ?? ''] : undefined;
  if (name !== undefined) await requireAccount(gateway, admitted, { input: { [accountField ?? '']: params[name] } });
}

/**
 * Throws NOT_FOUND or GONE when the account that a write names in its input does not exist. The caller's own account is not read: its token is
 * only valid while it exists.
 */
async function requireAccount(gateway: GatewayClient, admitted: Creation, { input }: Readonly<Record<string, unknown>>): Promise<void> {
  const { accountQuery: operation, route } = admitted.compiled;
  const id = (input as Readonly<Record<string, unknown>> | undefined)?.[route.accountField ?? ''];
  if (!operation || typeof id !== 'string' || id === admitted.caller?.userId) return;
  // Left to the write, whose error names the field.
  if (id === '' || id.length > ID_LENGTH.max) return;
  await call(gateway, toGatewayRequest(admitted, { operation, selection: STATE_SELECTION, isMutation: false, variables: { id } }));
}

interface CollectionCheck {
  /** Whether the list is read without conditions too: it has the path of the creation, and so does not exist below a resource that does not. */
  readonly isPathChecked: boolean;
}

/**
 * Throws PRECONDITION_FAILED when `If-Match` or `If-None-Match` is not met by the list that GET of the same target returns to the caller, in any
 * content coding; FORBIDDEN when they need the tag of a list that the credential may not read. A list has no date, so that `If-Unmodified-Since` is ignored (RFC 9110 §13.1.4).
 */
async function checkCollection(gateway: GatewayClient, admitted: Creation, { isPathChecked }: CollectionCheck): Promise<void> {
  const { collection } = admitted.compiled;
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = admitted.context.request.headers;
  if (!collection || (ifMatch === undefined && ifNoneMatch === undefined && !isPathChecked)) return;
  const forbidden = findLackOfScope(admitted, collection);
  if (forbidden) {
    checkUnread(admitted.context.request.headers, forbidden);
    return;
  }
  const etag = await readTag(gateway, { ...admitted, compiled: collection });
  const tags = ENCODINGS.map((encoding) => toEncodedTag(etag, encoding));
  const isMatched = tags.some((tag) => evaluateReadConditions({ 'if-match': ifMatch }, { etag: tag }) === 'proceed');
  const isNew = tags.every((tag) => evaluateReadConditions({ 'if-none-match': ifNoneMatch }, { etag: tag }) === 'proceed');
  if (!isMatched || !isNew) throw preconditionFailed();
}

/**
 * Evaluates the conditions on a list that the credential may not read. `*` only asks whether the list exists, which it does. Throws
 * PRECONDITION_FAILED for `If-None-Match: *`, and FORBIDDEN for a condition that needs the tag of the list.
 */
function checkUnread({ 'if-match': ifMatch, 'if-none-match': ifNoneMatch }: IncomingHttpHeaders, forbidden: Fault): void {
  if (ifNoneMatch?.trim() === '*') throw preconditionFailed();
  const needsTag = ifNoneMatch !== undefined || (ifMatch !== undefined && ifMatch.trim() !== '*');
  if (needsTag) throw forbidden;
}

/** Returns FORBIDDEN when the credential lacks scopes of the route; undefined otherwise. */
function findLackOfScope({ caller }: Creation, { requiredScopes, route }: CompiledOperationRoute): Fault | undefined {
  if (!caller || !requiredScopes || holdsOneOf(caller.scopes, requiredScopes)) return undefined;
  return insufficientScope(`A condition on ${route.method} ${route.path}`, nearestAlternative(requiredScopes, caller.scopes));
}

async function readTag(gateway: GatewayClient, listing: Creation): Promise<string> {
  const { operation, route } = listing.compiled;
  const { variables, selection, paging } = await parse(listing);
  const result = await call(gateway, toGatewayRequest(listing, { operation, selection, isMutation: false, variables }));
  const { prefix, path, search } = listing.target;
  const represent = (data: unknown) => result.compiled.projection.represent(data, prefix);
  const { body, version } = route.toResponse(result.value, represent, { prefix, path, search, paging });
  return toEtag(toJson(body ?? {}), version);
}
