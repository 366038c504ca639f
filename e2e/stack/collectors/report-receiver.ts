/** Receives reports of usage by POST, on a port that the system chooses, and responds as a test says. */
import { type IncomingHttpHeaders, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface ReceivedReport {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as it was sent, which may be compressed. */
  readonly bytes: Buffer;
}

export interface ReportReceiver {
  readonly url: string;
  readonly received: ReceivedReport[];
  /** The status of responses; 200 at first. */
  status: number;
  stop(): Promise<void>;
}

/** Starts a receiver. */
export async function startReportReceiver(): Promise<ReportReceiver> {
  const received: ReceivedReport[] = [];
  const state = { status: 200 };
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      received.push({ path: request.url ?? '', headers: request.headers, body: bytes.toString(), bytes });
      response.writeHead(state.status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(state, {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    received,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  });
}
