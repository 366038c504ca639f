/**
 * A GraphQL request from its transport to its result. Each stage takes what the one before returns; an error leaves at the stage that throws it and
 * becomes a GraphQL error with the code's HTTP status (over a WebSocket: an `error` message).
 *
 * | stage      | takes → returns                                 | place                        | errors                                   |
 * | ---------- | ----------------------------------------------- | ---------------------------- | ---------------------------------------- |
 * | transport  | head → method, media type                       | transports/                  | 403 404 405 406 414; 4400 …              |
 * | limit      | credential → caller, limit of requests          | request/caller.ts,           | RATE_LIMIT_EXCEEDED                      |
 * |            |                                                 | transports/                  |                                          |
 * | admit      | headers → RequestContext                        | request/admission.ts         | VALIDATION_ERROR, UNAUTHORIZED           |
 * | parse      | body or query string → Parameters               | transports/http/body.ts,     | VALIDATION_ERROR, 413 415                |
 * |            |                                                 | request/parameters.ts        |                                          |
 * | document   | Parameters → document text, which a CDN may     | documents/                   | NOT_FOUND, FORBIDDEN, VALIDATION_ERROR,  |
 * |            | have: the only one that waits for a look-up     |                              | SERVICE_UNAVAILABLE                      |
 * | credential | document → whether it may be anonymous          | request/admission.ts         | UNAUTHORIZED                             |
 * | plan       | document → Operation (cached)                   | supergraph/, plan/           | VALIDATION_ERROR, UPSTREAM_ERROR,        |
 * |            |                                                 |                              | SERVICE_UNAVAILABLE                      |
 * | check      | variables → coerced variables, cost             | execute/variables.ts,        | VALIDATION_ERROR, METHOD_NOT_ALLOWED,    |
 * |            |                                                 | limits/                      | RATE_LIMIT_EXCEEDED                      |
 * | share      | Operation → the result of an equal query in     | engines/shared-executions.ts |                                          |
 * |            | flight, if there is one                         |                              |                                          |
 * | execute    | Operation → data, errors                        | execute/, upstream/          | in the result: UPSTREAM_ERROR,           |
 * |            |                                                 |                              | UPSTREAM_TIMEOUT, those of subgraphs     |
 * | subscribe  | Operation → response stream                     | subscriptions/               | NOT_ACCEPTABLE, RATE_LIMIT_EXCEEDED, GONE |
 * | write      | data, errors → OperationResult                  | execute/write-result.ts      | VALIDATION_ERROR: response too large     |
 * | transport  | OperationResult → bytes                         | transports/                  |                                          |
 *
 * The stages from `plan` to `write` belong to the engine: engines/operation-run.ts, or @apollo/gateway in engines/apollo.ts.
 */
import type { Log } from '@trestle/log';
import { Fault, fail, toFault } from '@trestle/schema/errors';
import type { Documents } from './documents/documents.ts';
import type { Engine } from './engines/engine.ts';
import { toRefusalResult } from './errors/refusal-result.ts';
import type { Hooks } from './extensions/compile-hooks.ts';
import { type Execute, extendExecution } from './extensions/extend-execution.ts';
import { requireCredential } from './request/admission.ts';
import type { Measure } from './request/context.ts';
import type { IncomingOperation, OperationRequest, OperationResult, RunOperation } from './request/operation.ts';
import { withOutcome } from './request/whole-outcome.ts';
import type { UsageReporter } from './usage/usage-reporter.ts';

export interface PipelineOptions {
  readonly documents: Documents;
  readonly engine: Engine;
  /** Mutation fields that sign a client in: with these alone an invalid credential is ignored. */
  readonly signInFields: ReadonlySet<string>;
  readonly hooks: Hooks;
  readonly measure: Measure;
  readonly log: Pick<Log, 'error'>;
  /** Counts which operations clients send; undefined where usage is not reported. */
  readonly usage?: Pick<UsageReporter, 'begin'> | undefined;
}

/**
 * Creates the function that transports call for each operation. It throws the faults of its own stages; those of the engine, and those after a document
 * was looked up, are in the result.
 */
export function createPipeline(options: PipelineOptions): RunOperation {
  const { documents, engine, signInFields, hooks, measure, log, usage: reporter } = options;
  const send: Execute = (request, done) => {
    engine.execute(request, done);
  };
  const run = extendExecution(send, hooks, (request) => {
    requireCredential(request.rejection, request, signInFields);
  });
  const execute = reporter ? recordUsage(run) : run;
  const start = (query: string, incoming: IncomingOperation, done: (result: OperationResult) => void) => {
    const { operationName, variables } = incoming.parameters;
    requireCredential(incoming.rejection, { query, operationName }, signInFields);
    const { context, rejection, isReadOnly, reports, subscriber, resume, incremental } = incoming;
    const usage = reporter?.begin(incoming);
    execute({ query, operationName, variables, context, rejection, isReadOnly, reports, subscriber, resume, incremental, usage }, done);
  };
  return (incoming, done) => {
    const query = documents.resolve(incoming.parameters, incoming.client);
    if (typeof query === 'string') {
      start(query, incoming, done);
      return;
    }
    const { client, requestId, cancellation } = incoming.context;
    const refuse = (error: unknown) => {
      if (!(error instanceof Fault)) log.error('request failed', { requestId, error });
      done(toRefusalResult(toFault(error), requestId));
    };
    query.then((text) => {
      measure(client, () => {
        try {
          // Nothing has begun, so that the mutation of a client that has disconnected can still be left out.
          if (cancellation.isCancelled) throw fail('SERVICE_UNAVAILABLE', 'The client has disconnected.');
          start(text, incoming, done);
        } catch (error) {
          refuse(error);
        }
      });
    }, refuse);
  };
}

/** A subscription that has begun has no result: the engine records it. */
function recordUsage(execute: Execute): Execute {
  return (request: OperationRequest, done: (result: OperationResult) => void) => {
    execute(request, (result) => {
      done(
        withOutcome(result, (outcome) => {
          request.usage?.end({ isError: outcome !== 'complete', isCached: result.cached?.kind === 'hit' });
        }),
      );
    });
  };
}
