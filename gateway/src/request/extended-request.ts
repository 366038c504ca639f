/** What extensions know of a request, and keep for it. It exists only in a gateway with extensions. */
import type { Caller } from '@trestle/identity';
import { type ShownCaller, showCaller } from './shown-caller.ts';

export interface ExtendedRequestSource {
  readonly id: string;
  readonly transport: 'http' | 'websocket';
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The client, as `clientOf` of `@trestle/service` names it: what it waited a hook for counts as its use of the event loop. */
  readonly client: string | undefined;
  /** Sets a header of the response. */
  readonly setResponseHeader: (name: string, value: string) => void;
}

/** HTTP clients and proxies refuse responses with larger headers. */
const MAX_HEADERS = 50;
const MAX_HEADER_CHARACTERS = 8192;

/** An HTTP request, or an operation over a WebSocket. */
export class ExtendedRequest implements ExtendedRequestSource {
  readonly id: string;
  readonly transport: 'http' | 'websocket';
  readonly method: string;
  readonly url: string;
  readonly headers: ExtendedRequestSource['headers'];
  readonly client: string | undefined;
  readonly #setResponseHeader: ExtendedRequestSource['setResponseHeader'];
  /** The lengths of the values of the headers that extensions have set. */
  #headerLengths: Map<string, number> | undefined = undefined;
  #caller: ShownCaller | null | undefined = undefined;
  #state: Map<unknown, unknown> | undefined = undefined;

  constructor({ id, transport, method, url, headers, client, setResponseHeader }: ExtendedRequestSource) {
    this.id = id;
    this.transport = transport;
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.client = client;
    this.#setResponseHeader = setResponseHeader;
    Object.freeze(this);
  }

  /** What extensions see of the caller; undefined until the caller is known. */
  get caller(): ShownCaller | null | undefined {
    return this.#caller;
  }

  /** Called when the caller is known. */
  setCaller(caller: Caller | null): void {
    this.#caller = caller && showCaller(caller);
  }

  /** Sets a header of the response, by its name in lower case. Throws a TypeError for more than 50 headers or 8,192 characters of all values. */
  setResponseHeader(name: string, value: string): void {
    const lengths = (this.#headerLengths ??= new Map<string, number>()).set(name, value.length);
    let total = 0;
    for (const length of lengths.values()) total += length;
    if (lengths.size > MAX_HEADERS || total > MAX_HEADER_CHARACTERS)
      throw new TypeError('Extensions may set at most 50 headers of a response, with 8192 characters of values');
    this.#setResponseHeader(name, value);
  }

  /** Whether extensions set a cookie, which is for one client. */
  get setsCookie(): boolean {
    return this.#headerLengths?.has('set-cookie') === true;
  }

  /** What extensions keep until the end of the request. */
  get state(): Map<unknown, unknown> {
    this.#state ??= new Map();
    return this.#state;
  }
}
