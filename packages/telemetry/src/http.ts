/** Spans of HTTP requests by OpenTelemetry's semantic conventions (HTTP server spans, HTTP client spans). */
import {
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
} from '@opentelemetry/semantic-conventions';
import type { Scope } from './scope.ts';

export interface ServedRequest {
  readonly method: string;
  /** The template of the path, such as `/v1/users/{id}`; undefined for a path that matches no route. */
  readonly route: string | undefined;
  readonly status: number;
}

/**
 * Ends the SERVER span of a request and names it `{method} {route}`. The path and the query as sent are left out: they may hold what a person
 * wrote. Only statuses from 500 on are failures (HTTP server spans, "Status").
 */
export function endServerSpan(scope: Scope, { method, route, status }: ServedRequest, attributes: Record<string, string> = {}): void {
  scope.rename(route === undefined ? method : `${method} ${route}`);
  scope.end(
    {
      ...attributes,
      [ATTR_HTTP_REQUEST_METHOD]: method,
      ...(route !== undefined && { [ATTR_HTTP_ROUTE]: route }),
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: status,
    },
    status >= 500 ? String(status) : undefined,
  );
}

/** Returns the attributes of a POST to `url`, for {@link Scope.startCall}. */
export function toPostAttributes(url: URL): Record<string, string | number> {
  return {
    [ATTR_HTTP_REQUEST_METHOD]: 'POST',
    [ATTR_SERVER_ADDRESS]: url.hostname,
    [ATTR_SERVER_PORT]: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
  };
}
