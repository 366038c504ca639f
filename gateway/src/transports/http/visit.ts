/** One request at the HTTP door, from its head to the line that the log has of it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '@trestle/log';
import type { Fault } from '@trestle/schema/errors';
import type { Scope } from '@trestle/telemetry';
import type { EngineContext } from '../../engines/engine.ts';
import { endRequestSpan } from '../../observability/tracing.ts';

export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly started: number;
  readonly trace: Scope | undefined;
  context: EngineContext | undefined;
  /** Why the credential was refused, until it is known whether the operation needs one. */
  refusal: Fault | undefined;
  operation: string | undefined;
  kind: string | undefined;
  /** Whether its time was taken: that of a stream, when it began. */
  isCounted: boolean;
  /** Whether it has been logged. */
  isOver: boolean;
}

export interface DoorMetrics {
  readonly begin: () => void;
  /** Called once a request, when its answer has been written or its stream begun. */
  readonly end: (seen: Seen) => void;
}

export interface Seen {
  readonly status: number;
  readonly seconds: number;
  readonly operation: string | undefined;
}

export interface VisitBook {
  /** Takes a request's time; once. */
  readonly count: (visit: Visit) => void;
  /** Counts it, ends its trace, and writes its line into the log; once. */
  readonly finish: (visit: Visit) => void;
}

export function createVisitBook({ metrics, log }: { metrics: DoorMetrics; log: Log }): VisitBook {
  const count = (visit: Visit) => {
    if (visit.isCounted) return;
    visit.isCounted = true;
    const { request, response, started, operation, kind, trace } = visit;
    metrics.end({ status: response.statusCode, seconds: (performance.now() - started) / 1000, operation });
    if (trace) endRequestSpan(trace, { method: request.method ?? '', status: response.statusCode, operation, kind });
  };
  return {
    count,
    finish(visit) {
      if (visit.isOver) return;
      visit.isOver = true;
      count(visit);
      const { request, response, requestId, started, operation } = visit;
      log.access({
        requestId,
        method: request.method ?? '',
        route: '/graphql',
        status: response.statusCode,
        durationMs: Math.round(performance.now() - started),
        ...(operation !== undefined && { operation }),
      });
    },
  };
}
