/** Stages 6 and 7: runs the operation of a request when the checks of the state allow it. A replay comes before these checks (spec §8). */
import type { GatewayClient } from '../gateway/gateway-client.ts';
import { type GatewayResult, call } from './call.ts';
import { check } from './check.ts';
import { checkCreation } from './check-creation.ts';
import type { CompiledOperationRoute } from './compile.ts';
import type { AdmittedRequest } from './context.ts';
import type { GatewayRequest } from './gateway-request.ts';
import { findStored } from './stored-result.ts';

/** Returns the request to the gateway, with the versions that the write may find; undefined accepts any. */
export type ToRequest = (expectedVersions: readonly number[] | undefined) => GatewayRequest;

/**
 * Returns the result of the operation. When a check fails, returns the result that is stored for the Idempotency-Key, whatever has changed since;
 * without one, throws the error of the check: NOT_FOUND, GONE or PRECONDITION_FAILED. Throws what `call` throws.
 */
export async function runChecked(
  gateway: GatewayClient,
  admitted: AdmittedRequest<CompiledOperationRoute>,
  toRequest: ToRequest,
): Promise<GatewayResult> {
  let request = toRequest(undefined);
  try {
    const { stateQuery, accountQuery, collection } = admitted.compiled;
    if (stateQuery) request = toRequest(await check(gateway, admitted));
    else if (accountQuery || collection) await checkCreation(gateway, admitted, request);
  } catch (error) {
    const stored = await findStored(gateway, request);
    if (stored) return stored;
    throw error;
  }
  return call(gateway, request);
}
