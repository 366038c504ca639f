/** How a run ends: with a refusal, which is logged where the server is at fault, or with a result for its transport. */
import { toFault } from '@trestle/schema/errors';
import { toDocumentRefusal, toRefusalResult } from '../errors/refusal-result.ts';
import type { BufferPool } from '../execute/buffer-pool.ts';
import type { Writing } from '../execute/write-result.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type { Executable } from '../supergraph/prepared-operations.ts';
import type { Ending } from './write-executed.ts';

interface RefusalParts {
  readonly request: OperationRequest;
  readonly writing: Pick<Writing, 'log'>;
}

/** Returns the errors of an invalid document, or of one that cannot be planned. */
export function toDocumentEnding(refused: Extract<Executable, { errors: unknown }>, { request, writing }: RefusalParts): Ending {
  const { requestId } = request.context;
  if (refused.reason !== undefined) writing.log.error('cannot plan an operation', { requestId, error: new Error(refused.reason) });
  return toDocumentRefusal(refused, requestId);
}

/** Returns the error of a fault before the execution or during it; any other error is masked. */
export function toFaultEnding(error: unknown, { request, writing }: RefusalParts): Ending {
  const { requestId } = request.context;
  const fault = toFault(error);
  if (fault.code === 'INTERNAL_ERROR') writing.log.error('request failed', { requestId, code: fault.code, error: fault.cause });
  return toRefusalResult(fault, requestId);
}

/** What a run knows of its operation. */
export type ResultFacts = Pick<OperationResult, 'operationKind' | 'operationName' | 'caching' | 'fetched'>;

/** Returns the result, whose bytes go back to the pool when the transport releases them. */
export function toOperationResult(ending: Ending, facts: ResultFacts, buffers: BufferPool): OperationResult {
  const { outcome, status, challenge, retryAfterSeconds, bytes, length, rest, isShared = false } = ending;
  const { operationKind, operationName, caching, fetched } = facts;
  const release =
    !isShared && buffers.isPooled(bytes)
      ? () => {
          buffers.give(bytes);
        }
      : undefined;
  // Names each property, because spreads are slow.
  const whole = { outcome, status, challenge, retryAfterSeconds, bytes, length, release, operationKind, operationName, caching, fetched };
  return rest ? { ...whole, rest } : whole;
}
