/** `GET /livez`, `/readyz` and `/metrics`, the same in every process (contract §1). Settings may add further paths of the first two. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { isLocalRequest } from '../clients/local-peer.ts';
import { JSON_TYPE, type ProbeResponse, send, toMethodResponse } from './probe-response.ts';
import { readMetrics } from './read-metrics.ts';

/**
 * Gauges of prom-client whose names end as those of counters do. Each is the sum of a gauge by type: `sum(nodejs_active_handles)` has the
 * same value.
 */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** The probes of a process, and the registry of its metrics. */
export interface Probes {
  /** Where the process registers its own metrics. */
  readonly metrics: Registry;
  /** All metrics: those of the process, and those that were added. */
  readonly registries: readonly Registry[];
  /** Adds metrics to `/metrics` that may have the names of others, and must differ from them in a label. */
  addMetrics(metrics: Registry): void;
  /** Answers a request to the path of a probe and returns true; returns false for any other request, and leaves it alone. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
  /** Makes `/readyz` answer 503, so that load balancers send no more requests. */
  leave(): void;
  /** As {@link answer}, on the separate port for metrics: `/metrics` is for all who reach it. */
  answerOnMetricsPort(request: IncomingMessage, response: ServerResponse): boolean;
  /** Makes `answer` ignore `/metrics`, because the process serves it on a separate port. */
  moveMetrics(): void;
}

/**
 * Creates the probes. `/readyz` is 503 while `isReady` returns false, throws or rejects. `/metrics` and the details of `/readyz` are for
 * requests from the machine itself only.
 */
export function createProbes({
  isReady,
  readDetails = () => ({}),
  collectMetrics,
  paths = {},
}: {
  isReady: () => boolean | Promise<boolean>;
  /** Returns further members of the body of `/readyz`, for requests from the machine itself. */
  readDetails?: () => Readonly<Record<string, unknown>>;
  /** Returns the text of `/metrics`, for a process whose metrics are joined with those of others; default: its own. */
  collectMetrics?: (() => Promise<string>) | undefined;
  /** Paths at which the process answers as at `/livez` and at `/readyz`. */
  paths?: { readonly liveness?: string | undefined; readonly readiness?: string | undefined };
}): Probes {
  const metrics = new Registry();
  const registries = [metrics];
  collectDefaultMetrics({ register: metrics });
  for (const name of MISNAMED) metrics.removeSingleMetric(name);
  let isLeaving = false;
  let hasMetrics = true;
  const read = async (request: IncomingMessage): Promise<ProbeResponse> =>
    collectMetrics
      ? { status: 200, type: Registry.PROMETHEUS_CONTENT_TYPE, body: await collectMetrics() }
      : readMetrics(registries, request);
  const readReadiness = async (request: IncomingMessage) => {
    const ready =
      !isLeaving &&
      (await Promise.resolve()
        .then(isReady)
        .catch(() => false));
    const details = ready && isLocalRequest(request) ? readDetails() : {};
    return { status: ready ? 200 : 503, type: JSON_TYPE, body: JSON.stringify({ status: ready ? 'ready' : 'not ready', ...details }) };
  };
  const responders = new Map<string, Responder>([['/metrics', read]]);
  for (const path of ['/livez', paths.liveness ?? '/livez']) responders.set(path, () => Promise.resolve(LIVE));
  for (const path of ['/readyz', paths.readiness ?? '/readyz']) responders.set(path, readReadiness);
  const answer = (request: IncomingMessage, response: ServerResponse, mayReadMetrics: boolean) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    const respond = path === '/metrics' && !mayReadMetrics ? undefined : responders.get(path);
    if (!respond || isPreflight(request)) return false;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    void send((id) => (isRead ? respond(request) : Promise.resolve(toMethodResponse(request, id))), request, response);
    return true;
  };
  return {
    metrics,
    registries,
    addMetrics(added) {
      registries.push(added);
    },
    leave() {
      isLeaving = true;
    },
    moveMetrics() {
      hasMetrics = false;
    },
    answer: (request, response) => answer(request, response, hasMetrics && isLocalRequest(request)),
    answerOnMetricsPort: (request, response) => answer(request, response, true),
  };
}

/** Preflights of browsers are answered alike for all paths. */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

type Responder = (request: IncomingMessage) => Promise<ProbeResponse>;

const LIVE: ProbeResponse = { status: 200, type: JSON_TYPE, body: '{"status":"live"}' };
