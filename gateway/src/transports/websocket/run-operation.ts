/** Runs the operations of WebSockets: from a `subscribe` message to the pipeline, and from its result to the operation. */
import type { RateLimits } from '@trestle/limits/settings';
import type { Log } from '@trestle/log';
import { Fault, fail, toFault } from '@trestle/schema/errors';
import type { Admission } from '@trestle/service/admission/admission';
import { clientOf } from '@trestle/service/clients/client-id';
import { Turn } from '@trestle/service/admission/turn';
import type { Tracing } from '@trestle/telemetry';
import type { RecordHeaders } from '../../observability/recorded-headers.ts';
import type { RequestMetrics } from '../../observability/request-metrics.ts';
import { RequestRecord } from '../../observability/request-record.ts';
import { toTarget } from '../../observability/tracing.ts';
import type { TransportMetrics } from '../../observability/subscription-metrics.ts';
import type { Hooks } from '../../extensions/compile-hooks.ts';
import { readClient, readClientApplication } from '../../request/caller.ts';
import { type RequestContext, createContext } from '../../request/context.ts';
import { NO_REPORTS, type RunOperation } from '../../request/operation.ts';
import { readParameters } from '../../request/parameters.ts';
import { STOP_CAUSES } from '../delivery/stop-causes.ts';
import type { ConnectionOptions, SubscribeMessage } from './connection-options.ts';
import { extendOperation } from './extend-operation.ts';
import type { OperationWatch } from './socket-operation.ts';

export interface SocketRunOptions {
  readonly run: RunOperation;
  readonly log: Log;
  /** The path of GraphQL requests. */
  readonly path: string;
  readonly requests: RequestMetrics;
  readonly metrics: TransportMetrics;
  readonly tracing: Tracing;
  /** Finds the headers of the handshake for the record of an operation. */
  readonly recordHeaders: RecordHeaders;
  /** Operations take turns with HTTP requests. */
  readonly admission: Admission;
  readonly rateLimits: RateLimits;
  readonly hooks: Pick<Hooks, 'areUsed' | 'onRequest' | 'onContext'>;
}

/** Creates the function that connections call for each `subscribe` message. */
export function createSocketRun(options: SocketRunOptions): ConnectionOptions['run'] {
  const { run, path, log, requests, metrics, tracing, recordHeaders, admission, rateLimits, hooks } = options;
  const begin: ConnectionOptions['run'] = (operation, { payload, identity, request }) => {
    const { requestId } = operation;
    const trace = tracing.begin({});
    const headers = recordHeaders(request.headers);
    const target = trace?.isExported ? { ...toTarget(request, path), isServed: true } : undefined;
    const record = new RequestRecord({ method: 'WS', route: path, requestId, trace, headers, target }, { metrics: requests, log });
    const quota = rateLimits.open(request, identity.caller);
    const context = createContext({ ...identity, ...readClient(request), requestId, mutationHeaders: [], quota, trace });
    const turn = new Turn(admission, { client: clientOf(request), bytes: sizeOf(payload) });
    operation.watch({ cancellation: context.cancellation, ...createWatch({ record, metrics, turn, admission }) });
    const guard = (act: () => void) => {
      try {
        act();
      } catch (error) {
        if (!(error instanceof Fault)) log.error('request failed', { requestId, error });
        operation.refuse(toFault(error));
      }
    };
    const start = (extended: RequestContext) => {
      const parameters = readParameters(payload);
      const incoming = {
        parameters,
        context: extended,
        client: readClientApplication(request),
        subscriber: operation,
        resume: parameters.resume,
        incremental: 'current' as const,
      };
      run({ ...incoming, rejection: undefined, isReadOnly: false, reports: NO_REPORTS }, (result) => {
        guard(() => {
          record.setOperation(result.operationName, result.operationKind);
          operation.sendResult(result);
        });
      });
    };
    quota.begin((fault) => {
      guard(() => {
        if (fault) throw fault;
        const isTaken = turn.take(() => {
          guard(() => {
            extendOperation({ context, request, hooks }, (refusal, extended) => {
              guard(() => {
                if (refusal) throw refusal;
                start(extended);
              });
            });
          });
        });
        if (!isTaken) throw tooManyWaiting();
      });
    });
  };
  return (operation, message) => {
    // What waits has taken time, too.
    admission.measure(clientOf(message.request), () => {
      begin(operation, message);
    });
  };
}

function tooManyWaiting(): Fault {
  return fail('SERVICE_UNAVAILABLE', 'Too many operations of the client are waiting. Retry after 1 second.', { retryAfterSeconds: 1 });
}

/** The query is by far the largest part. */
function sizeOf({ query }: SubscribeMessage['payload']): number {
  return typeof query === 'string' ? query.length : 0;
}

/** The status that HTTP would have; others are 200. */
const STATUS: Readonly<Record<string, number>> = { refused: 400, stopped: 499 };

interface WatchedOperation {
  readonly record: RequestRecord;
  readonly metrics: TransportMetrics;
  readonly turn: Turn;
  readonly admission: Admission;
}

function createWatch({ record, metrics, turn, admission }: WatchedOperation): Pick<OperationWatch, 'onBegin' | 'onEnd'> {
  let hasBegun = false;
  return {
    onBegin: (subscription) => {
      turn.end();
      hasBegun = true;
      record.setOperation(subscription.operationName, 'subscription');
      record.measure(200);
      metrics.subscriptionBegan('websocket');
    },
    onEnd: (cause) => {
      // Its work goes on, and counts as in flight as `abandon` describes. While there is one client, nothing would end that count.
      if (STOP_CAUSES.has(cause) && admission.hasSeveralClients()) turn.abandon();
      else turn.end();
      if (hasBegun) metrics.subscriptionEnded('websocket', cause);
      record.end(STATUS[cause] ?? 200);
    },
  };
}
