/** Answers new requests with 503 while the event loop of the process is late. Requests in flight, probes and metrics are not affected. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter } from 'prom-client';
import { watchEventLoop } from '../process/event-loop-delay.ts';
import { OVERLOADED } from '../http1/refusal-reasons.ts';
import { createRefuser } from '../http1/refusals.ts';
import type { ServiceOptions } from './service-options.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** What refuses requests under overload. */
export interface LoadShedding {
  /** Returns whether a new request or WebSocket must be refused now, and counts it then. */
  refuses(): boolean;
  /** Returns a handler that answers 503 in place of `handle` under overload. */
  wrap(handle: Handle): Handle;
  /** Stops measuring the event loop. */
  close(): void;
}

/** Without a limit nothing is refused, and nothing is measured. */
const NO_SHEDDING: LoadShedding = { refuses: () => false, wrap: (handle) => handle, close: () => undefined };

/** Creates what refuses requests of a service whose options have a limit. */
export function createLoadShedding(options: ServiceOptions): LoadShedding {
  const { maxEventLoopDelayMs, probes } = options;
  if (maxEventLoopDelayMs === undefined) return NO_SHEDDING;
  const loop = watchEventLoop(maxEventLoopDelayMs);
  const toRefusal = createRefuser(options);
  const shed = new Counter({
    name: 'trestle_requests_shed_total',
    help: 'Requests that were answered 503 because the event loop was late.',
    registers: [probes.metrics],
  });
  const refuses = (): boolean => {
    if (loop.isLate) shed.inc();
    return loop.isLate;
  };
  return {
    refuses,
    wrap: (handle) => (request, response) => {
      if (!refuses()) {
        handle(request, response);
        return;
      }
      const { status, headers, body } = toRefusal(OVERLOADED, request);
      response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : body);
    },
    close: () => {
      loop.close();
    },
  };
}
