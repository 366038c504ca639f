/** `GET /livez`, `/readyz` and `/metrics`, the same in every process (contract §1). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { isLocalRequest } from './local-peer.ts';

export interface Probes {
  /** Where the process registers its own metrics. */
  readonly metrics: Registry;
  /** Answers a probe and gives true, or gives false and leaves the request alone. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
  /** From now on `/readyz` is 503, so that load balancers send no more requests. */
  leave(): void;
  /** From now on `/metrics` is left alone: the process has a port of its own for it. */
  moveMetrics(): void;
}

/**
 * `isReady` says whether the process can serve now; while it says no, or throws, `/readyz` is 503. `/metrics` and the details of
 * `/readyz` are for requests from the machine itself only.
 */
export function createProbes({
  isReady,
  tell = () => ({}),
}: {
  isReady: () => boolean | Promise<boolean>;
  /** What else `/readyz` says to the machine itself. */
  tell?: () => Readonly<Record<string, string>>;
}): Probes {
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  let isLeaving = false;
  let hasMetrics = true;
  const answers: Record<string, (isLocal: boolean) => Promise<Answer>> = {
    '/livez': () => Promise.resolve({ status: 200, type: JSON_TYPE, body: '{"status":"live"}' }),
    '/readyz': async (isLocal) => {
      const ready =
        !isLeaving &&
        (await Promise.resolve()
          .then(isReady)
          .catch(() => false));
      return {
        status: ready ? 200 : 503,
        type: JSON_TYPE,
        body: JSON.stringify({ status: ready ? 'ready' : 'not ready', ...(ready && isLocal && tell()) }),
      };
    },
    '/metrics': () => readMetrics(metrics),
  };
  return {
    metrics,
    leave() {
      isLeaving = true;
    },
    moveMetrics() {
      hasMetrics = false;
    },
    answer(request, response) {
      const path = request.url?.split('?', 1)[0] ?? '';
      const answer = request.method === 'GET' || request.method === 'HEAD' ? answers[path] : undefined;
      if (!answer) return false;
      const isLocal = isLocalRequest(request);
      if (path === '/metrics' && !(hasMetrics && isLocal)) return false;
      void send(() => answer(isLocal), request, response);
      return true;
    },
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Returns all metrics as Prometheus text. */
export async function readMetrics(metrics: Registry): Promise<Answer> {
  return { status: 200, type: metrics.contentType, body: await metrics.metrics() };
}

/** Writes the answer; one that cannot be made is a 503. */
export async function send(answer: () => Promise<Answer>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, type, body } = await answer().catch(() => ({ status: 503, type: 'text/plain', body: '' }));
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : body);
}
