/** Sends requests on connections of their own: several workers of one gateway get connections in turn. */
import { type IncomingHttpHeaders, Agent, request as send } from 'node:http';

export interface OwnReply {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface OwnRequest {
  /** Sent as JSON. */
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a POST on a new connection. Rejects when the connection is reset. */
export function postAlone(url: string, { body, headers = {} }: OwnRequest): Promise<OwnReply> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent: new Agent({ maxSockets: 1 }), headers: { 'content-type': 'application/json', ...headers } };
    const sent = send(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode, headers: response.headers, text });
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}
