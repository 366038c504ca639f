/** Completes the result of a document that the engine `apollo` executed without its denied fields. */
import type { GraphQLFormattedError } from 'graphql';
import { toDenialErrors } from '../access/denial.ts';
import { toRefusedResult } from '../errors/format-error.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type { FilteredDocument } from './apollo-access.ts';

interface Result {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly GraphQLFormattedError[];
  readonly extensions?: object;
}

/** Returns the result with the nulls and the errors of the denied fields. A result that was refused before execution stays as it is. */
export function addDenials(result: OperationResult, filtered: FilteredDocument, { variables, context }: OperationRequest): OperationResult {
  if (result.outcome === 'refused') return result;
  const { requestId, caller } = context;
  const { data, errors = [], extensions } = JSON.parse(result.bytes.toString()) as Result;
  const completed = filtered.complete(data, variables);
  const denials = toDenialErrors(filtered.denials, completed.variables, caller).map((error) => ({
    ...error,
    extensions: { ...error.extensions, requestId },
  }));
  const all = [...denials, ...errors];
  const refused = toRefusedResult(completed.data, all);
  const bytes = Buffer.from(
    JSON.stringify({ data: completed.data, ...(all.length > 0 && { errors: all }), ...(extensions && { extensions }) }),
  );
  return {
    ...result,
    outcome: completed.data === null ? 'failed' : all.length > 0 ? 'partial' : 'complete',
    status: refused?.status,
    challenge: refused?.challenge,
    bytes,
    length: bytes.length,
  };
}
