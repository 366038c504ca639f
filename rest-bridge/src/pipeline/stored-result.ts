/** Finds the result of an earlier request with the same Idempotency-Key (spec §8). */
import { type ErrorCode, Fault } from '@trestle/schema/errors';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import { type GatewayResult, call } from './call.ts';
import type { GatewayRequest } from './gateway-request.ts';

/** Behind the scope: the subgraph returns a stored result or fails, and does not write. */
const STORED_ONLY = '#stored';
/** What a used key is answered with besides the stored result: in flight, with a secret, or with another payload. */
const CODES_OF_USED_KEYS: ReadonlySet<ErrorCode> = new Set(['CONFLICT', 'BUSINESS_RULE_VIOLATION']);

/**
 * Returns the stored result of a write, which does not run; undefined when there is none, or the request has no key. Throws CONFLICT or
 * BUSINESS_RULE_VIOLATION for a key that cannot be used again. The mutation must be one that subgraphs run once for each key: any other one
 * would run.
 */
export async function findStored(gateway: GatewayClient, request: GatewayRequest): Promise<GatewayResult | undefined> {
  const scope = request.headers['idempotency-scope'];
  if (scope === undefined) return undefined;
  try {
    return await call(gateway, { ...request, headers: { ...request.headers, 'idempotency-scope': `${scope}${STORED_ONLY}` } });
  } catch (error) {
    if (error instanceof Fault && CODES_OF_USED_KEYS.has(error.code)) throw error;
    return undefined;
  }
}
