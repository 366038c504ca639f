/** The vocabulary of routes. A route is data: what it matches, its operation, how its request is read and its response built. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Caller } from '@trestle/identity';
import type { RequestTarget } from '../http/request-target.ts';
import type { ResponseHeaders, RouteResponse } from '../http/response.ts';
import type { BodyRule } from '../query/body-input.ts';
import type { SelectableNames } from '../query/field-selection.ts';
import type { ListRule } from '../query/list-parameters.ts';
import type { ReaderContext, RequestReader } from '../query/request-reader.ts';
import type { Represent, RepresentationContext } from '../resources/representation.ts';
import { resourceAtVersion } from '../resources/resource-at-version.ts';
import type { Resource } from '../resources/resource.ts';

/** The methods that routes have. HEAD follows from GET, and OPTIONS from all. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface RouteBase {
  readonly method: Method;
  /** The path after the version prefix; `{name}` matches one segment. */
  readonly path: string;
  /** What the route does, for the documentation. */
  readonly summary: string;
  /** Whether an anonymous caller gets 401 before anything else is checked. */
  readonly needsCaller: boolean;
  /** Whether a credential is ignored: a client that logs in again may still send an expired token. Several are 400 as everywhere. */
  readonly ignoresCredential?: boolean;
  /** Whether the route passes `User-Agent`, `Cookie` and `Origin` on, and sends the cookies that the users subgraph sets. */
  readonly isOfSession?: boolean;
  /** The clause that requires the route. */
  readonly spec: string;
  /** Throws for headers of a request that the route does not support. Runs before anything else is checked. */
  readonly checkHeaders?: (headers: IncomingHttpHeaders) => void;
  /** Headers of every response, also of errors and of OPTIONS. */
  readonly headers?: ResponseHeaders;
  /** Further headers, by their names, with their descriptions for the documentation. */
  readonly documented?: { readonly request?: HeaderDescriptions; readonly response?: HeaderDescriptions };
}

/** Headers with their descriptions. */
export type HeaderDescriptions = Readonly<Record<string, string>>;

/** A route that runs one operation at the gateway. */
export interface OperationRoute extends RouteBase {
  /** The name of an operation in `operations/`. */
  readonly operation: string;
  readonly resource: Resource;
  readonly input: RouteInput;
  readonly success: RouteSuccess;
  /** Builds the response from the result of the operation. */
  readonly toResponse: ResponseBuilder;
  /**
   * For writes: what conditions apply to, the resource at the path itself, the parent of an action, or (`collection`) what GET of the path returns: the
   * list at the path of a creation, or a resource without versions. A creation that is checked before it runs is one that subgraphs run once for each
   * `Idempotency-Key`.
   */
  readonly conditionsOn?: 'resource' | 'parent' | 'collection';
  /** For conditions on a `collection`: the path of the GET, if it is not that of the write. */
  readonly collectionPath?: string;
  /** For writes: the field of the input that names an account. Another account than the caller's is read first: 404 or 410 without it. */
  readonly accountField?: string;
  /** Whether the write creates the resource when it does not exist. */
  readonly mayCreate?: boolean;
  /**
   * For POST, which always accepts `Idempotency-Key`: `required` answers 400 without the header (contract §4), `ignored` does not send it
   * on. By default the key is optional.
   */
  readonly idempotency?: 'required' | 'ignored';
  /** For reads: the subscription whose results are sent, one event each, to clients that accept `text/event-stream`. */
  readonly stream?: { readonly operation: string };
  /** Other media types of the representation. */
  readonly alternatives?: readonly Alternative[];
}

/** A route that the bridge answers without the gateway. */
export interface LocalRoute extends RouteBase {
  /** The media types of the response, of which the client must accept one; empty when any `Accept` will do. */
  readonly types: readonly string[];
  readonly respond: (request: LocalRequest) => RouteResponse;
  readonly success: RouteSuccess;
}

/** A route of the API. */
export type Route = OperationRoute | LocalRoute;

/** What a route reads besides the values of its path. */
export type RouteInput =
  /** `flags` are boolean query parameters with their descriptions; they become variables of the same names. */
  | { readonly kind: 'path'; readonly flags?: Readonly<Record<string, string>> }
  | { readonly kind: 'list'; readonly rule: ListRule }
  /** `fromHeaders` returns the body of a request that describes it by headers instead; undefined for any other request. */
  | { readonly kind: 'body'; readonly rule: BodyRule; readonly fromHeaders?: (headers: IncomingHttpHeaders) => object | undefined }
  /** The fields of the body are the arguments of the mutation, but for those that the path names. */
  | { readonly kind: 'arguments'; readonly mutation: string }
  /** A file, which is passed on while it arrives, and its title. */
  | { readonly kind: 'upload' }
  /** Bytes of an upload that was created before, from `Upload-Offset` on. */
  | { readonly kind: 'upload part' }
  | { readonly kind: 'custom'; readonly hasBody: boolean; readonly createReader: (context: ReaderContext) => RequestReader };

const BODY_KINDS: ReadonlySet<RouteInput['kind']> = new Set(['upload', 'upload part', 'body', 'arguments']);

/** Returns whether a route reads a request body. */
export function hasBody({ input }: Pick<OperationRoute, 'input'>): boolean {
  return input.kind === 'custom' ? input.hasBody : BODY_KINDS.has(input.kind);
}

/** Returns what `fields` and `include` of a route may name: nothing for a file, whose resource has only what the route itself needs. */
export function selectableOf({ resource, success }: Pick<OperationRoute, 'resource' | 'success'>, version: number): SelectableNames {
  return success.content === 'file' ? NOT_SELECTABLE : resourceAtVersion(resource, version);
}

const NOT_SELECTABLE: SelectableNames = { fields: {}, include: {} };

/** The status and content of a successful response. */
export type RouteSuccess =
  | { readonly status: 200 | 201; readonly content: 'resource' | 'list' | 'items' }
  | { readonly status: 202; readonly content: 'resource' }
  | { readonly status: 200; readonly content: 'login' | 'search' | 'events' | 'document' }
  /** An object of this GraphQL type, as the operation selects it. */
  | { readonly status: 200; readonly content: 'object'; readonly type: string }
  /** A secret, and the resource that it belongs to in this member. */
  | { readonly status: 201; readonly content: 'secret'; readonly member: string }
  /** A file of one of these media types. */
  | { readonly status: 200; readonly content: 'file'; readonly types: readonly string[] }
  | { readonly status: 201 | 204; readonly content: 'none' }
  | { readonly status: 307; readonly content: 'redirect'; readonly target: Resource };

/** Another media type of a representation. */
export interface Alternative {
  readonly type: string;
  /** The resource whose default fields `write` needs. */
  readonly resource: Resource;
  readonly write: (body: Readonly<Record<string, unknown>>) => Promise<Buffer>;
}

/** A request to a route that the bridge answers without the gateway. */
export interface LocalRequest extends RequestTarget {
  readonly version: number;
  readonly caller: Caller | null;
  /** The headers and the connection of the request. */
  readonly request: IncomingMessage;
}

/** Builds a response from the result of an operation; `represent` turns the data of the resource into its representation. */
export type ResponseBuilder = (result: unknown, represent: Represent, context: RepresentationContext) => RouteResponse;
