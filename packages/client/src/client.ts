/**
 * A typed client of the REST API, generated from its OpenAPI documents. Calls that are not in the documents do not compile:
 *
 *     const api = createTrestleClient({ baseUrl: 'http://localhost:3000', token });
 *     const { data, error } = await api.GET('/users/{id}', { params: { path: { id } } });
 */
import createClient, { type Client } from 'openapi-fetch';
import type { paths as PathsOfV1 } from './generated/v1.ts';
import type { paths as PathsOfV2 } from './generated/v2.ts';

/** The paths of API version 1 and their operations. */
export type { PathsOfV1 };

/** The paths of API version 2 and their operations. */
export type { PathsOfV2 };

/** The options of a client. */
export interface ClientOptions {
  /** The address of the API without a path, such as `https://api.example.com`. */
  readonly baseUrl: string;
  /** An access token, or a function that returns the current one and is called for each request. Default: requests are anonymous. */
  readonly token?: string | (() => string | undefined) | undefined;
  /** The implementation of `fetch`. Default: `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Creates a client of API version 1. Its calls resolve with `error` for an error response, and reject only without a response. */
export function createTrestleClient(options: ClientOptions): Client<PathsOfV1> {
  return createVersionedClient<PathsOfV1>('v1', options);
}

/** Creates a client of API version 2, whose lists are paged by cursor and whose amounts of money are `{amount, currency}`. */
export function createTrestleClientV2(options: ClientOptions): Client<PathsOfV2> {
  return createVersionedClient<PathsOfV2>('v2', options);
}

function createVersionedClient<Paths extends object>(version: string, { baseUrl, token, fetch }: ClientOptions): Client<Paths> {
  const client = createClient<Paths>({
    baseUrl: `${baseUrl.replace(/(?<!\/)\/+$/, '')}/${version}`,
    // Lists are sent as one parameter with commas: `sort=-createdAt,id`.
    querySerializer: { array: { style: 'form', explode: false } },
    bodySerializer: serializeBody,
    ...(fetch && { fetch }),
  });
  client.use({
    onRequest({ request }) {
      const current = typeof token === 'function' ? token() : token;
      if (current !== undefined) request.headers.set('authorization', `Bearer ${current}`);
      return request;
    },
  });
  return client;
}

/** Returns the body of a request: bytes and forms as they are, an object with a file in it as a form, and every other value as JSON. */
function serializeBody(body: unknown): BodyInit {
  if (isSentAsItIs(body)) return body;
  return isObject(body) && Object.values(body).some((value) => value instanceof Blob) ? toForm(body) : JSON.stringify(body);
}

/** Looks at the class, because JSON of bytes is `{}` or an object with a member for each byte. */
function isSentAsItIs(body: unknown): body is BodyInit {
  const isBytes = body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body) || body instanceof ReadableStream;
  return isBytes || body instanceof FormData || body instanceof URLSearchParams;
}

function isObject(body: unknown): body is Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null;
}

function toForm(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value instanceof Blob ? value : String(value));
  return form;
}
