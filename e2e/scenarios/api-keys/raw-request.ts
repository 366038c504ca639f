/** Sends requests whose headers may repeat, which `fetch` would merge. */
import { request } from 'node:http';

export interface RawRequest {
  readonly method: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: string;
}

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Resolves with the response, or with its head when it is a stream that stays open. */
export function sendRaw(url: string, { method, headers, body }: RawRequest): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(url);
    const length = body === undefined ? [] : ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body))];
    const sent = request(url, { method, headers: ['Host', host, 'Connection', 'close', ...length, ...headers] });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const { statusCode: status = 0 } = response;
      let text = '';
      const finish = () => {
        resolve({ status, headers: response.headers, text });
      };
      const isStream = /event-stream|multipart/.test(String(response.headers['content-type']));
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (!isStream || !text.includes('"data"')) return;
        finish();
        sent.destroy();
      });
      response.once('end', finish);
      response.on('error', () => undefined);
    });
    sent.end(body);
  });
}
