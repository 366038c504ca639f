import { describe, expect, it } from '@jest/globals';
import { ClientError } from '@trestle/http-client/upstream-client';
import { OperationExpired } from '@trestle/service/process/cancellation';
import { NotSent, TooManyRequests, toFailure } from './fetch-failure.ts';

describe('toFailure', () => {
  it.each<[string, Error, boolean]>([
    ['was sent and timed out', new ClientError('TIMEOUT', 'm', { progress: 'sent' }), true],
    ['lost its connection during the response', new ClientError('CONNECTION_LOST', 'm', { progress: 'responding' }), true],
    ['the time limit of its operation ended', new OperationExpired(), true],
    ['its client gave up', new Error('The client disconnected'), true],
    ['has a response that is no GraphQL result', new Error('HTTP 504, text/html: not a GraphQL response'), true],
    ['could not be sent', new ClientError('UNREACHABLE', 'm', { progress: 'unsent' }), false],
    ['the circuit breaker stopped', new NotSent('The circuit breaker is open'), false],
    ['was one too many', new TooManyRequests(), false],
  ])('says whether the subgraph may execute a fetch that %s', (_, cause, mayBeExecuted) => {
    expect(toFailure('s', cause).mayBeExecuted ?? false).toBe(mayBeExecuted);
  });
});
