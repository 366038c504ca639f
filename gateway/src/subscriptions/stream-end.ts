/** Why a response stream ends, as its subscribers learn it. No I/O. */
import { type SubgraphErrors, formatErrors } from '../errors/format-error.ts';
import { readError } from '../execute/execution-errors.ts';
import type { ResultError, SubgraphError } from '../program/result.ts';
import type { StreamEnd } from '../request/subscriber.ts';
import type { ConnectionLoss } from '../upstream/subscriptions/subscription-upstream.ts';

export interface EndReason {
  readonly cause: StreamEnd['cause'];
  readonly code: string;
  readonly message: string;
  readonly service?: string;
}

/** Returns the end of a stream with one error. */
export function toStreamEnd({ cause, code, message, service }: EndReason, requestId: string): StreamEnd {
  return { cause, errors: [{ message, extensions: { code, ...(service && { service }), requestId } }] };
}

export interface RefusalContext {
  readonly service: string;
  readonly requestId: string;
  readonly subgraphErrors: SubgraphErrors;
}

/** Returns the end of a stream whose subgraph refused the subscription with these errors. */
export function toRefusal(errors: readonly SubgraphError[], { service, requestId, subgraphErrors }: RefusalContext): StreamEnd {
  const reported = errors.map((error): ResultError => {
    const { message, path, extensions } = readError(error, service);
    return { message, path, extensions: { ...extensions, service } };
  });
  return { cause: 'refused', errors: formatErrors(reported, { requestId, subgraphErrors }) };
}

/** The source stream that was lost. */
export interface LostSource {
  readonly service: string;
  /** Whether the subgraph got nothing that identifies the caller. */
  readonly isAnonymous: boolean;
}

/**
 * Returns why a stream ends whose connection to a subgraph was lost. `unauthorized` ends everything that the credential of the client is for, so a
 * client without one is refused this subscription only.
 */
export function toLossReason({ isUnauthorized }: ConnectionLoss, { service, isAnonymous }: LostSource): EndReason {
  if (isUnauthorized)
    return isAnonymous
      ? { cause: 'refused', code: 'UNAUTHORIZED', message: `The subgraph ${service} requires a credential.`, service }
      : { cause: 'unauthorized', code: 'UNAUTHORIZED', message: 'The credential is no longer accepted.' };
  return {
    cause: 'source-lost',
    code: 'UPSTREAM_ERROR',
    message: `The connection to the subgraph ${service} was lost. Events may have been missed.`,
    service,
  };
}
