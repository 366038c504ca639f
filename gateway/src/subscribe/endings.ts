/** Why a subscription has ended, as its listeners are told. No I/O. */
import type { StreamEnd } from '../engine.ts';
import { finishErrors } from '../errors.ts';
import type { AnswerError, SubgraphError } from '../execute/execute.ts';
import type { Loss } from '../upstream/live-socket.ts';

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
  errors: readonly SubgraphError[],
  { service, requestId }: { readonly service: string; readonly requestId: string },
): StreamEnd {
  const told = errors.map(({ message = 'The subgraph refused the subscription', path, extensions }): AnswerError => ({
    message,
    path,
    extensions: { ...extensions, service },
  }));
  return { cause: 'refused', errors: finishErrors(told, requestId) };
}

export function reasonOfLoss({ isUnauthorized }: Loss, service: string): Reason {
  return isUnauthorized
    ? { cause: 'unauthorized', code: 'UNAUTHORIZED', message: 'The credential is no longer accepted' }
    : { cause: 'source-lost', code: 'UPSTREAM_ERROR', message: `The subgraph ${service} was lost: events may have been missed`, service };
}
