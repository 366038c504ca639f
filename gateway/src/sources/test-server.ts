/** Real HTTP servers for the tests of sources, which answer as a test says. */
import { once } from 'node:events';
import { type IncomingMessage, type RequestListener, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers a request. */
export type Respond = (response: ServerResponse, request: ReceivedRequest) => void;

export interface TestServer {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** May be replaced. */
  respond: Respond;
  stop(): Promise<void>;
}

/** Starts a server on a free port. */
export async function startTestServer(respond: Respond): Promise<TestServer> {
  const received: ReceivedRequest[] = [];
  const answer: RequestListener = (incoming, response) => {
    void readBody(incoming).then((body) => {
      const request = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body };
      received.push(request);
      server.respond(response, request);
    });
  };
  const http = createServer(answer);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server: TestServer = {
    url: `http://127.0.0.1:${String((http.address() as AddressInfo).port)}`,
    received,
    respond,
    stop: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  return text;
}

/** Closes the connection, as for a server that is down. Its port stays taken, so that no other process can answer there. */
export const beDown: Respond = (response) => {
  response.destroy();
};

/** Answers as a server that keeps one file and knows ETags; 304 when the client has this one. */
export function serveText(text: string, etag?: string): Respond {
  return (response, { headers }) => {
    if (etag !== undefined) response.setHeader('etag', etag);
    if (etag !== undefined && headers['if-none-match'] === etag) response.writeHead(304).end();
    else response.end(text);
  };
}
