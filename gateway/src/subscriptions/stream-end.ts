/** Why a subscription has ended, as its listeners are told. No I/O. */
import type { StreamEnd } from '../engines/engine.ts';
import { type SubgraphErrors, finishErrors } from '../errors/format-error.ts';
import { type AnswerError, readError } from '../execute/execution-errors.ts';
import type { Loss } from '../upstream/subgraph-socket.ts';

export interface Reason {
  readonly cause: StreamEnd['cause'];
  readonly code: string;
  readonly message: string;
  readonly service?: string;
}

export function toEnd({ cause, code, message, service }: Reason, requestId: string): StreamEnd {
  return { cause, errors: [{ message, extensions: { code, ...(service && { service }), requestId } }] };
}

/** The subgraph will not have it, and says why. */
export function toRefusal(
  errors: readonly unknown[],
  { service, requestId, subgraphErrors }: { readonly service: string; readonly requestId: string; readonly subgraphErrors: SubgraphErrors },
): StreamEnd {
  const told = errors.map((error): AnswerError => {
    const { message, path, extensions } = readError(error, service);
    return { message, path, extensions: { ...extensions, service } };
  });
  return { cause: 'refused', errors: finishErrors(told, { requestId, subgraphErrors }) };
}

export function reasonOfLoss({ isUnauthorized }: Loss, service: string): Reason {
  return isUnauthorized
    ? { cause: 'unauthorized', code: 'UNAUTHORIZED', message: 'The credential is no longer accepted' }
    : { cause: 'source-lost', code: 'UPSTREAM_ERROR', message: `The subgraph ${service} was lost: events may have been missed`, service };
}
