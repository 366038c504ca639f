/** Requests of the protocol tus, without its client library. */

/** A response, without its body. */
interface Sent {
  readonly status: number;
  readonly headers: Headers;
  /** Of the error; undefined when there is none. */
  readonly code: string | undefined;
}

/** Encodes a value of the header `Upload-Metadata`. */
export const toMetadata = (value: string) => Buffer.from(value).toString('base64');

/** Returns the requests of an account to a bridge. `sender` is called for each. */
export function toTusRequests(sender: () => { readonly origin: string; readonly headers: Readonly<Record<string, string>> }) {
  const send = async (
    method: string,
    path: string,
    { body, headers }: { body?: Uint8Array; headers?: Record<string, string> } = {},
  ): Promise<Sent> => {
    const response = await fetch(`${sender().origin}${path}`, {
      method,
      headers: { 'tus-resumable': '1.0.0', ...sender().headers, ...headers },
      ...(body && { body: Uint8Array.from(body) }),
    });
    const text = await response.text();
    const parsed = text === '' ? undefined : (JSON.parse(text) as { error?: { code: string } });
    return { status: response.status, headers: response.headers, code: parsed?.error?.code };
  };
  const create = async (
    size: number,
    { metadata = `title ${toMetadata('By hand')}`, headers = {} } = {},
  ): Promise<Sent & { readonly path: string }> => {
    const sent = await send('POST', '/v1/uploads', { headers: { 'upload-length': String(size), 'upload-metadata': metadata, ...headers } });
    return { ...sent, path: sent.headers.get('location') ?? '' };
  };
  const appendWith = (path: string, body: Uint8Array, headers: Record<string, string>) =>
    send('PATCH', path, { body, headers: { 'content-type': 'application/offset+octet-stream', ...headers } });
  return {
    send,
    create,
    appendWith,
    append: (path: string, offset: number, body: Uint8Array) => appendWith(path, body, { 'upload-offset': String(offset) }),
    offsetOf: async (path: string) => Number((await send('HEAD', path)).headers.get('upload-offset')),
    discard: (path: string) => send('DELETE', path),
  };
}
