/** What scenarios need to speak TLS: a certificate of their own, and clients for HTTP/1.1 and HTTP/2 that trust it. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, connect } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import { createSelfSigned } from '@trestle/service/testing/test-authority';

export interface Certificate {
  readonly cert: string;
  readonly settings: { readonly TLS_CERT_FILE: string; readonly TLS_KEY_FILE: string };
}

/** Makes one for `localhost` and writes its files into `directory`. */
export async function createCertificate(directory: string): Promise<Certificate> {
  const { cert, key } = await createSelfSigned();
  const settings = { TLS_CERT_FILE: join(directory, 'cert.pem'), TLS_KEY_FILE: join(directory, 'key.pem') };
  await Promise.all([writeFile(settings.TLS_CERT_FILE, cert), writeFile(settings.TLS_KEY_FILE, key)]);
  return { cert, settings };
}

export interface TlsReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface TlsRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** By HTTP/1.1. */
export async function askHttps(
  { cert }: Certificate,
  port: number,
  { path, method = 'GET', headers, body }: TlsRequest,
): Promise<TlsReply> {
  const asked = request({ host: 'localhost', port, path, method, headers, ca: cert, agent: false });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [NodeJS.ReadableStream & { statusCode: number; headers: IncomingHttpHeaders }];
  return { status: response.statusCode, headers: response.headers, text: await readText(response) };
}

/** A session of HTTP/2; the caller closes it. */
export function openHttp2({ cert }: Certificate, port: number): ClientHttp2Session {
  const session = connect(`https://localhost:${String(port)}`, { ca: cert });
  session.on('error', () => undefined);
  return session;
}

/** Begins a request; without a body it is whole at once. */
export function beginHttp2(session: ClientHttp2Session, { path, method = 'GET', headers = {}, body }: TlsRequest): ClientHttp2Stream {
  const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return stream;
}

/** Gives the whole answer; rejects when the stream ends without one. */
export async function readHttp2(stream: ClientHttp2Stream): Promise<TlsReply> {
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
  return { status: headers[':status'], headers, text: await readText(stream) };
}

async function readText(stream: AsyncIterable<unknown> | NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
