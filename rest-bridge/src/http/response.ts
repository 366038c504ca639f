/** The shapes of a response on its way to the client. No I/O. */

/** The headers of a response by their lower-case names. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/** The content of a resource that is a file. */
export interface FileContent {
  /** The subgraph that keeps it. */
  readonly owner: 'users' | 'content';
  /** The path of the resource, such as `/videos/vid_1`. */
  readonly path: string;
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  /** The name of the file without its extension. */
  readonly name: string;
}

/** An upload that a request continues. */
export interface OpenUpload {
  readonly id: string;
  /** How many bytes are stored. */
  readonly offset: number;
  /** In bytes. */
  readonly size: number;
  /** Whether the client has stored the content itself, so that the request has none. */
  readonly isDirect?: boolean;
}

/** What a route answers, before entity tags, conditions, ranges and content codings are applied. */
export interface RouteResponse {
  readonly status: number;
  /** Sent as JSON; undefined for a response without content. */
  readonly body?: object | undefined;
  /** Content of another media type, in place of `body`. */
  readonly document?: { readonly type: string; readonly bytes: Buffer } | undefined;
  /** Content that is streamed, in place of `body`. */
  readonly file?: FileContent | undefined;
  /** The upload that the body of the request continues, in place of `body`. */
  readonly upload?: OpenUpload | undefined;
  readonly headers?: ResponseHeaders | undefined;
  /** The values of `Set-Cookie`. */
  readonly cookies?: readonly string[] | undefined;
  /** The version of the resource, which its entity tag carries. */
  readonly version?: number | undefined;
  /** When the resource last changed, for `Last-Modified`; absent when the body also shows other resources. */
  readonly changedAt?: string | undefined;
  /** `Cache-Control` of an anonymous read: that of the gateway's response, or of the route. */
  readonly gatewayPolicy?: string | undefined;
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
