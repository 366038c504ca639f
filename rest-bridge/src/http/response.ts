/** The shapes of a response on its way to the client. No I/O. */

/** The headers of a response by their lower-case names. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/** What a route answers, before entity tags, conditions, ranges and content codings are applied. */
export interface RouteResponse {
  readonly status: number;
  /** Sent as JSON; undefined for a response without content. */
  readonly body?: object | undefined;
  /** Content of another media type, in place of `body`. */
  readonly document?: { readonly type: string; readonly bytes: Buffer };
  readonly headers?: ResponseHeaders;
  /** The values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
  /** The version of the resource, which its entity tag carries. */
  readonly version?: number | undefined;
  /** When the resource last changed, for `Last-Modified`; absent when the body also shows other resources. */
  readonly changedAt?: string | undefined;
}

/** A response as it is written to the client. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The values of `Set-Cookie`: a list cannot be one header (RFC 6265 §3). */
  readonly cookies?: readonly string[] | undefined;
  /** A string stays one, because Node.js then sends it together with the headers. Undefined for a response without content. */
  readonly content?: string | Buffer | undefined;
}
