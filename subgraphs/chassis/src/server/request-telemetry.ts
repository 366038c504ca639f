/** The telemetry of each request: spans, a duration, and a line in the log. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApolloServerPlugin } from '@apollo/server';
import { ATTR_GRAPHQL_OPERATION_NAME, ATTR_GRAPHQL_OPERATION_TYPE } from '@opentelemetry/semantic-conventions/incubating';
import type { Log } from '@trestle/log';
import { createHistogram } from '@trestle/service/probes/histogram';
import { toRequestId } from '@trestle/service/messages/request-id';
import type { Scope, Tracing } from '@trestle/telemetry';
import { currentScope, enter, runWithin } from '@trestle/telemetry/current';
import { endServerSpan } from '@trestle/telemetry/http';
import type { Registry } from 'prom-client';
import type { RequestContext, RequestReport } from '../request/context.ts';

type LocalResponse = ServerResponse & { locals: Record<string, unknown> };

/** The parts that observe requests. */
export interface RequestTelemetry {
  /** A middleware of Express, before all others. It stores the report in `response.locals`. */
  readonly observe: (request: IncomingMessage, response: LocalResponse, next: () => void) => void;
  /** Adds the operation's name to the report, and starts the span `GraphQL execute`, the parent of the spans of SQL statements. */
  readonly plugin: ApolloServerPlugin<RequestContext>;
}

/** Where the telemetry goes. */
export interface RequestTelemetryOptions {
  readonly metrics: Registry;
  readonly log: Log;
  readonly tracing: Tracing;
}

const ROUTE = '/graphql';

/** Creates the telemetry of a process. The metric has the name and labels of OpenTelemetry's HTTP semantic conventions. */
export function createRequestTelemetry({ metrics, log, tracing }: RequestTelemetryOptions): RequestTelemetry {
  const openSeries = createHistogram({
    registry: metrics,
    name: 'http_server_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
  });
  return {
    observe(request, response, next) {
      const started = performance.now();
      const scope = tracing.begin(request.headers);
      const { method = '', url = '' } = request;
      const report: RequestReport = {
        requestId: toRequestId(request.headers['x-request-id']),
        // Express changes the URL later.
        route: url.split('?', 1)[0] === ROUTE ? ROUTE : undefined,
        operation: undefined,
      };
      response.locals['report'] = report;
      response.once('close', () => {
        const { statusCode: status } = response;
        const milliseconds = performance.now() - started;
        const { requestId, route, operation } = report;
        const labels = { http_request_method: method, http_route: route ?? '', http_response_status_code: String(status) };
        const span = scope?.ids;
        openSeries(labels).observe(milliseconds / 1000, span);
        if (scope) endServerSpan(scope, { method, route, status });
        const durationMs = Math.round(milliseconds);
        const fields = { requestId, method, route: route ?? 'unmatched', status, durationMs, ...span };
        log.access(operation === undefined ? fields : { ...fields, operation });
      });
      if (scope) runWithin(scope, next);
      else next();
    },
    plugin: executionPlugin,
  };
}

/** Returns the report that `observe` stored. */
export function reportOf({ locals }: Pick<LocalResponse, 'locals'>): RequestReport {
  return locals['report'] as RequestReport;
}

const executionPlugin: ApolloServerPlugin<RequestContext> = {
  requestDidStart: () =>
    Promise.resolve({
      executionDidStart({ operationName, operation, contextValue: { report } }) {
        if (report && operationName !== null) report.operation = operationName;
        // Apollo calls this also for a document with several operations of which the request names none.
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
};

function startExecution({ name, type }: { name: string | null; type: string }): Scope | undefined {
  const scope = currentScope()?.start('GraphQL execute', {
    ...(name !== null && { [ATTR_GRAPHQL_OPERATION_NAME]: name }),
    [ATTR_GRAPHQL_OPERATION_TYPE]: type,
  });
  if (scope) enter(scope);
  return scope;
}
