/** What a subgraph reports of each request: spans, a duration, and a line in the log. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApolloServerPlugin } from '@apollo/server';
import { ATTR_GRAPHQL_OPERATION_NAME, ATTR_GRAPHQL_OPERATION_TYPE } from '@opentelemetry/semantic-conventions/incubating';
import type { Log } from '@trestle/log';
import type { Scope, Tracing } from '@trestle/telemetry';
import { currentScope, enter, runWithin } from '@trestle/telemetry/current';
import { endServerSpan } from '@trestle/telemetry/http';
import { Histogram, type Registry } from 'prom-client';
import { type RequestContext, type RequestReport, readRequestId } from '../request/context.ts';

export interface RequestReports {
  /** A step of Express, before all others. It leaves the report in `response.locals`. */
  readonly step: (request: IncomingMessage, response: ServerResponse & { locals: Record<string, unknown> }, next: () => void) => void;
  /** Learns the operation's name, and starts the span `GraphQL execute`, within which SQL statements have theirs. */
  readonly plugin: ApolloServerPlugin<RequestContext>;
}

export interface RequestReportOptions {
  readonly metrics: Registry;
  readonly log: Log;
  readonly tracing: Tracing;
}

const ROUTE = '/graphql';

/** Creates the reports of a process; the metric has the name and labels of OpenTelemetry's HTTP semantic conventions. */
export function createRequestReports({ metrics, log, tracing }: RequestReportOptions): RequestReports {
  const durations = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    registers: [metrics],
  });
  return {
    step(request, response, next) {
      const started = performance.now();
      const scope = tracing.begin(request.headers);
      const report: RequestReport = { requestId: readRequestId(request.headers['x-request-id']) ?? randomUUID(), operation: undefined };
      response.locals['report'] = report;
      const { method = '', url = '' } = request;
      // Express changes the URL on the way.
      const route = url.split('?', 1)[0] === ROUTE ? ROUTE : undefined;
      response.once('close', () => {
        const { statusCode: status } = response;
        const milliseconds = performance.now() - started;
        const labels = { http_request_method: method, http_route: route ?? '', http_response_status_code: status };
        durations.observe(labels, milliseconds / 1000);
        if (scope) endServerSpan(scope, { method, route, status });
        const { requestId, operation } = report;
        log.access({
          requestId,
          method,
          route: route ?? 'unmatched',
          status,
          durationMs: Math.round(milliseconds),
          ...(operation !== undefined && { operation }),
        });
      });
      if (scope) runWithin(scope, next);
      else next();
    },
    plugin: {
      requestDidStart: () =>
        Promise.resolve({
          executionDidStart({ operationName, operation, contextValue: { report } }) {
            if (report && operationName !== null) report.operation = operationName;
            // Apollo comes here too when the document has several operations and the request names none.
            const type = (operation as typeof operation | undefined)?.operation;
            const scope = type && startExecution({ name: operationName, type });
            return Promise.resolve({
              executionDidEnd: () => {
                scope?.end();
                return Promise.resolve();
              },
            });
          },
        }),
    },
  };
}

function startExecution({ name, type }: { name: string | null; type: string }): Scope | undefined {
  const scope = currentScope()?.start('GraphQL execute', {
    ...(name !== null && { [ATTR_GRAPHQL_OPERATION_NAME]: name }),
    [ATTR_GRAPHQL_OPERATION_TYPE]: type,
  });
  if (scope) enter(scope);
  return scope;
}
