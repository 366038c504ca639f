/** Stage 6: evaluates the conditions of a write (RFC 9110 §13). */
import { Fault, fail } from '@trestle/schema/errors';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import { type ResourceState, needsState, parseWriteConditions, toExpectedVersions } from '../http/conditional.ts';
import { call } from './call.ts';
import type { CompiledOperationRoute } from './compile.ts';
import type { AdmittedRequest } from './context.ts';
import { toGatewayRequest } from './gateway-request.ts';

/** The query for a resource's state selects its version and the time of its last change only. */
export const STATE_SELECTION = { fields: [], include: [] };

/**
 * Returns the versions that the write may find; undefined accepts any. Up to 100 versions of `If-Match` are compared by the write's SQL
 * statement alone. Any other condition is evaluated by reading the resource first; the write then expects the version that was read, so that a
 * change in between fails in SQL, except with `If-Match: *`, which any version meets. Throws NOT_FOUND or GONE when the resource to read does not
 * exist; for DELETE always NOT_FOUND (contract §2).
 */
export async function check(
  gateway: GatewayClient,
  admitted: AdmittedRequest<CompiledOperationRoute>,
): Promise<readonly number[] | undefined> {
  if (!admitted.compiled.stateQuery) return undefined;
  const conditions = parseWriteConditions(admitted.context.request.headers);
  if (!needsState(conditions)) return conditions.expectedVersions;
  return toExpectedVersions(conditions, await readState(gateway, admitted));
}

/** Returns the error of a condition that is not met. */
export function preconditionFailed(): Fault {
  return fail(
    'PRECONDITION_FAILED',
    'The current version of the resource does not meet the conditions of the request. Read it again and retry.',
  );
}

/**
 * Returns the state of the resource that a write changes. Throws NOT_FOUND or GONE when it does not exist, unless the write may create it; for DELETE
 * always NOT_FOUND.
 */
export async function readState(gateway: GatewayClient, admitted: AdmittedRequest<CompiledOperationRoute>): Promise<ResourceState> {
  const { compiled, params: variables } = admitted;
  const { stateQuery: operation, route } = compiled;
  if (!operation) throw new Error(`No route reads the resource that ${route.path} changes`);
  try {
    const request = toGatewayRequest(admitted, { operation, selection: STATE_SELECTION, isMutation: false, variables });
    const { value } = await call(gateway, request);
    const { _version, _changedAt } = value as { _version: number; _changedAt?: string };
    return { version: _version, changedAt: _changedAt };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (route.mayCreate && error.code === 'NOT_FOUND') return { version: 0, changedAt: undefined };
    // As the write itself answers when it has no condition.
    if (route.method === 'DELETE' && error.code === 'GONE') throw fail('NOT_FOUND', 'The resource does not exist.');
    throw error;
  }
}
