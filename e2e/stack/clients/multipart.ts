/** GraphQL multipart requests, as browsers and other clients send them. */
import type { Reply } from './client.ts';

/** The first bytes of a WebM file, by which it is recognized, and then any. */
export function toWebm(size: number): Buffer {
  const head = Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104428581021853806701', 'hex');
  return Buffer.concat([head, Buffer.alloc(Math.max(0, size - head.length), 'trestle ')]).subarray(0, size);
}

/** A picture of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export interface UploadRequest {
  readonly query: string;
  /** With null in place of each file. */
  readonly variables: object;
  readonly files: Readonly<Record<string, Blob | Buffer>>;
  readonly map?: object;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface UploadReply extends Reply {
  readonly body: {
    readonly data?: Record<string, unknown> | null;
    readonly errors?: readonly { message: string; extensions: Record<string, unknown> }[];
  };
}

/** Sends an operation with files; by default each file stands for the variable of its name. */
export async function sendFiles(
  gateway: string,
  { query, variables, files, map, token, headers = {} }: UploadRequest,
): Promise<UploadReply> {
  const form = new FormData();
  form.set('operations', JSON.stringify({ query, variables }));
  form.set('map', JSON.stringify(map ?? Object.fromEntries(Object.keys(files).map((name) => [name, [`variables.${name}`]]))));
  for (const [name, file] of Object.entries(files)) form.set(name, file instanceof Blob ? file : new Blob([Uint8Array.from(file)]), name);
  return sendForm(`${gateway}/graphql`, form, { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers });
}

/** Sends a form. */
export async function sendForm(url: string, form: FormData, headers: Readonly<Record<string, string>>): Promise<UploadReply> {
  const response = await fetch(url, { method: 'POST', body: form, headers });
  const text = await response.text();
  const body = (text === '' ? undefined : JSON.parse(text)) as UploadReply['body'];
  return { status: response.status, headers: response.headers, text, body };
}
