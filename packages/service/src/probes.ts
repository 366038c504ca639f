/** `GET /livez`, `/readyz` and `/metrics`, the same in every process (contract §1). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Registry, collectDefaultMetrics } from 'prom-client';

export interface Probes {
  /** Where the process registers its own metrics. */
  readonly metrics: Registry;
  /** Answers a probe and gives true, or gives false and leaves the request alone. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
}

/** `isReady` tells whether the process can serve now; while it says no, or throws, `/readyz` is 503. */
export function createProbes({
  isReady,
  tell = () => ({}),
}: {
  isReady: () => boolean | Promise<boolean>;
  /** What else `/readyz` says. */
  tell?: () => Readonly<Record<string, string>>;
}): Probes {
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const answers: Record<string, () => Promise<Answer>> = {
    '/livez': () => Promise.resolve({ status: 200, type: 'application/json; charset=utf-8', body: '{"status":"live"}' }),
    '/readyz': async () => {
      const ready = await Promise.resolve(isReady()).catch(() => false);
      return {
        status: ready ? 200 : 503,
        type: 'application/json; charset=utf-8',
        body: JSON.stringify({ status: ready ? 'ready' : 'not ready', ...(ready && tell()) }),
      };
    },
    '/metrics': async () => ({ status: 200, type: metrics.contentType, body: await metrics.metrics() }),
  };
  return {
    metrics,
    answer(request, response) {
      const answer = request.method === 'GET' || request.method === 'HEAD' ? answers[request.url?.split('?')[0] ?? ''] : undefined;
      if (!answer) return false;
      void send(answer, request, response);
      return true;
    },
  };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function send(answer: () => Promise<Answer>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, type, body } = await answer().catch(() => ({ status: 503, type: 'text/plain', body: '' }));
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : body);
}
