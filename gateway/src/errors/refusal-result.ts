/** The result of an operation that is refused before its execution, or that cannot be executed. No I/O. */
import { toChallenge } from '@trestle/identity/credentials/challenge';
import { ERRORS, type Fault } from '@trestle/schema/errors';
import { retryAfterOf } from '@trestle/schema/retry-after';
import type { GraphQLFormattedError } from 'graphql';
import { DeniedOperation } from '../access/denial.ts';
import type { OperationResult, Outcome } from '../request/operation.ts';
import { LocatedFault } from '../program/located-fault.ts';
import { formatFault } from './format-fault.ts';

/** Returns the result with the errors of the fault. */
export function toRefusalResult(fault: Fault, requestId: string): OperationResult {
  const bytes = Buffer.from(JSON.stringify({ errors: formatRefusal(fault, requestId) }));
  // The media type decides the status of an operation that is not valid (GraphQL over HTTP, "Status Codes").
  const status = fault.code === 'VALIDATION_ERROR' ? undefined : ERRORS[fault.code].status;
  return toResult(bytes, { outcome: 'refused', status, challenge: toChallenge(fault), retryAfterSeconds: retryAfterOf(fault) });
}

/** Returns the errors of a fault: one for each field that is denied, and one of every other fault. */
export function formatRefusal(fault: Fault, requestId: string): GraphQLFormattedError[] {
  if (fault instanceof DeniedOperation)
    return fault.errors.map(({ extensions, ...error }) => ({ ...error, extensions: { ...extensions, requestId } }));
  const locations = fault instanceof LocatedFault && fault.locations.length > 0 ? fault.locations : undefined;
  return [formatFault(fault, requestId, locations)];
}

/** The errors of a document. `isPlanned` when it is valid and cannot be planned. */
export interface RefusedDocument {
  readonly errors: readonly { readonly message: string; readonly locations?: GraphQLFormattedError['locations'] | undefined }[];
  readonly isPlanned: boolean;
}

/** Returns the result with the errors of an invalid document, or of one that cannot be planned. */
export function toDocumentRefusal({ errors, isPlanned }: RefusedDocument, requestId: string): OperationResult {
  const code = isPlanned ? 'UPSTREAM_ERROR' : 'VALIDATION_ERROR';
  const formatted = errors.map(({ message, locations }) => ({
    message,
    ...(locations && { locations }),
    extensions: { code, requestId },
  }));
  const bytes = Buffer.from(JSON.stringify(isPlanned ? { data: null, errors: formatted } : { errors: formatted }));
  return toResult(bytes, { outcome: isPlanned ? 'failed' : 'refused', status: undefined, challenge: undefined });
}

interface Ending {
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly challenge: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

function toResult(bytes: Buffer, ending: Ending): OperationResult {
  return { ...ending, operationKind: undefined, operationName: undefined, bytes, length: bytes.length, release: undefined };
}
