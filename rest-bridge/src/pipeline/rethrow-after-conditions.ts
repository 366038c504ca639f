/** Decides which error of a write is reported when several are true: 404, 410 and 412 take precedence over 400 (RFC 9110 §13.2.1). */
import { type ErrorCode, Fault } from '@trestle/schema/errors';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import { parseWriteConditions, toExpectedVersions } from '../http/conditional.ts';
import { preconditionFailed, readState } from './check.ts';
import { checkFaultyCreation } from './check-creation.ts';
import type { CompiledOperationRoute } from './compile.ts';
import type { AdmittedRequest } from './context.ts';

/**
 * Rethrows the error of a write. A VALIDATION_ERROR is rethrown only when what the path names exists and the conditions of the request are met;
 * otherwise the error of that is thrown.
 */
export async function rethrowAfterConditions(
  error: unknown,
  gateway: GatewayClient,
  admitted: AdmittedRequest<CompiledOperationRoute>,
): Promise<never> {
  if (hasCode(error, FAULTY)) {
    if (admitted.compiled.stateQuery) {
      const state = await readState(gateway, admitted);
      if (toExpectedVersions(parseWriteConditions(admitted.context.request.headers), state)?.length === 0) throw preconditionFailed();
    } else {
      await checkFaultyCreation(gateway, admitted).catch((other: unknown) => {
        // The list may refuse what the creation refuses too, or need another scope.
        throw hasCode(other, FIRST) ? other : error;
      });
    }
  }
  throw error;
}

const FAULTY: readonly ErrorCode[] = ['VALIDATION_ERROR'];
/** What takes precedence over it. */
const FIRST: readonly ErrorCode[] = ['NOT_FOUND', 'GONE', 'PRECONDITION_FAILED'];

function hasCode(error: unknown, codes: readonly ErrorCode[]): boolean {
  return error instanceof Fault && codes.includes(error.code);
}
