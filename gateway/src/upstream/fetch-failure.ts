/** What a fetch that failed becomes for the client. No I/O. */
import { Fault } from '@trestle/schema/errors';
import { ClientError } from '@trestle/http-client/upstream-client';
import { OperationExpired } from '@trestle/service/process/cancellation';
import type { SubgraphFailure } from '../program/result.ts';

/** A fetch was not sent. */
export class NotSent extends Error {}

/** The subgraph has got as many requests as traffic.requestsPerSecond allows. */
export class TooManyRequests extends NotSent {}

/** Returns the failure. The cause contains addresses and is for the log only. */
export function toFailure(service: string, cause: Error): SubgraphFailure {
  // The files of the client's own request exceed a limit.
  if (cause instanceof Fault) return { code: cause.code, message: cause.message, cause: undefined };
  if (cause instanceof TooManyRequests)
    return { code: 'SERVICE_UNAVAILABLE', message: `The limit of requests to the subgraph ${service} is reached. Retry later.`, cause };
  // A response that is no GraphQL result is often that of a proxy, behind which the subgraph goes on.
  const mayBeExecuted = cause instanceof ClientError ? cause.progress !== 'unsent' : !(cause instanceof NotSent);
  if (cause instanceof OperationExpired) {
    const message = `The subgraph ${service} did not respond within the time limit of the operation.`;
    return { code: 'UPSTREAM_TIMEOUT', message, cause, mayBeExecuted };
  }
  return cause instanceof ClientError && cause.code === 'TIMEOUT'
    ? { code: 'UPSTREAM_TIMEOUT', message: `The subgraph ${service} did not respond in time.`, cause, mayBeExecuted }
    : { code: 'UPSTREAM_ERROR', message: `The request to the subgraph ${service} failed.`, cause, mayBeExecuted };
}
