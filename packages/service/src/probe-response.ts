/** The response to a probe, and to a request for metrics. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The response to a probe. */
export interface ProbeResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Writes the response, or 503 when `read` rejects. */
export async function send(read: () => Promise<ProbeResponse>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, type, body } = await read().catch(() => ({ status: 503, type: 'text/plain', body: '' }));
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : body);
}
