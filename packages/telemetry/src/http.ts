/** Names and attributes of HTTP spans, by OpenTelemetry's semantic conventions (HTTP server spans, HTTP client spans). */
import type { Attributes } from '@opentelemetry/api';
import {
  ATTR_HTTP_REQUEST_HEADER,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_FULL,
} from '@opentelemetry/semantic-conventions';
import type { Scope } from './scope.ts';

/** Describes a completed request. */
export interface ServedRequest {
  readonly method: string;
  /** Path template, such as `/v1/users/{id}`; undefined when the path matches no route. */
  readonly route: string | undefined;
  readonly status: number;
}

/**
 * Ends the SERVER span of a request and names it `{method} {route}`. Path and query as sent are omitted, because they may contain personal
 * data. `attributes` take precedence. Only statuses of 500 and above are failures (HTTP server spans, "Status").
 */
export function endServerSpan(scope: Scope, { method, route, status }: ServedRequest, attributes: Attributes = {}): void {
  if (!scope.isExported) return;
  scope.rename(route === undefined ? method : `${method} ${route}`);
  // Assignments, because a spread with computed keys is slow.
  const all: Attributes = {};
  all[ATTR_HTTP_REQUEST_METHOD] = method;
  if (route !== undefined) all[ATTR_HTTP_ROUTE] = route;
  all[ATTR_HTTP_RESPONSE_STATUS_CODE] = status;
  scope.end(Object.assign(all, attributes), status >= 500 ? String(status) : undefined);
}

/** Returns the attributes of request headers, by their names in lower case: `http.request.header.<name>`, each a list of its value. */
export function toHeaderAttributes(headers: Readonly<Record<string, string>>): Attributes {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [ATTR_HTTP_REQUEST_HEADER(name), [value]]));
}

/** Returns the attributes of a POST to `url`, for {@link Scope.startCall}: without its user, password and query, which may be secret. */
export function toPostAttributes(url: URL): Record<string, string | number> {
  if (url.protocol === 'unix:')
    return { [ATTR_HTTP_REQUEST_METHOD]: 'POST', [ATTR_SERVER_ADDRESS]: url.pathname, [ATTR_URL_FULL]: url.href };
  return {
    [ATTR_HTTP_REQUEST_METHOD]: 'POST',
    [ATTR_SERVER_ADDRESS]: url.hostname,
    [ATTR_SERVER_PORT]: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    [ATTR_URL_FULL]: url.origin + url.pathname,
  };
}

/** Returns the attributes of a response, for {@link Scope.end}; none where no response arrived. */
export function toResponseAttributes(status: number | undefined): Record<string, number> {
  return status === undefined ? {} : { [ATTR_HTTP_RESPONSE_STATUS_CODE]: status };
}
