/** A complete response by HTTP/2. */
import type { IncomingHttpHeaders } from 'node:http2';
import type { ClientResponse } from '../upstream-client.ts';

/** The status, the header fields and the body of a response. */
export class Http2Response implements ClientResponse {
  readonly status: number;
  readonly bytes: Buffer;
  readonly bodyStart = 0;
  readonly bodyEnd: number;
  readonly #headers: Readonly<Record<string, unknown>>;

  constructor(headers: IncomingHttpHeaders, body: Buffer) {
    this.status = Number(headers[':status']);
    this.bytes = body;
    this.bodyEnd = body.length;
    this.#headers = headers;
  }

  header(name: string): string | undefined {
    return Object.hasOwn(this.#headers, name) ? this.headerValues(name).join(', ') : undefined;
  }

  headerValues(name: string): readonly string[] {
    return Object.hasOwn(this.#headers, name) ? [this.#headers[name]].flat().map(String) : [];
  }
}
