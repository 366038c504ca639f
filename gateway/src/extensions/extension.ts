/**
 * The interface of extensions: code of the operator that the gateway calls at set stages of a request. This file imports nothing, because it is also
 * `@trestle/gateway/extension`, which extensions outside this repository are written against (docs/gateway/extensions.md).
 */

/**
 * Hooks, each optional, in the order in which they are called. One that returns a promise is waited for, up to EXTENSION_TIMEOUT_MS. A hook that
 * throws, rejects or takes too long refuses what it was called for; only `onSubgraphResponse` and `onEvent` observe: what they throw is logged.
 */
export interface Extension {
  /** Names it in the log and in metrics: 1 to 64 letters, digits, `-` and `_`. */
  readonly name: string;
  /** A request has arrived, within its rate limit. For HTTP: before its body is read, whatever its credential. */
  readonly onRequest?: (event: RequestEvent) => Awaitable<void>;
  /** The caller is known. */
  readonly onContext?: (event: ContextEvent) => Awaitable<void>;
  /** The document is known, and may still be invalid. */
  readonly onOperation?: (event: OperationEvent) => Awaitable<void>;
  /** The operation is valid, planned and within its limits. */
  readonly onPlan?: (event: PlanEvent) => Awaitable<void>;
  /** A subscription is about to begin. */
  readonly onSubscribe?: (event: SubscribeEvent) => Awaitable<void>;
  /**
   * A fetch is about to be sent; not again when it is retried. Subscriptions over WebSockets to subgraphs are no fetches. With this hook no result is
   * cached or shared, because it may depend on what the hook does.
   */
  readonly onSubgraphRequest?: (event: SubgraphRequestEvent) => Awaitable<void>;
  /** A response of a subgraph has arrived, or none will. */
  readonly onSubgraphResponse?: (event: SubgraphResponseEvent) => void;
  /** The result of a query or a mutation is written, also when the operation was refused after `onOperation`. */
  readonly onResponse?: (event: ResponseEvent) => Awaitable<void>;
  /** An event of a subscription is sent: once for all subscribers that share its result. */
  readonly onEvent?: (event: StreamEvent) => void;
  /** The gateway stops, after the last request. */
  readonly onStop?: () => Awaitable<void>;
}

export type Awaitable<T> = T | Promise<T>;

/** The default export of EXTENSIONS_FILE: extensions, or a function that returns them. They are called in this order. */
export type ExtensionModule = Extension | readonly Extension[] | (() => Awaitable<Extension | readonly Extension[]>);

/** Returns the extension unchanged, with its type checked. */
export function defineExtension<E extends Extension>(extension: E): E {
  return extension;
}

/** A request: an HTTP request, or an operation over a WebSocket. */
export interface ExtensionRequest {
  readonly id: string;
  readonly transport: 'http' | 'websocket';
  readonly method: string;
  /** Path and query, without API keys. */
  readonly url: string;
  /** By name in lower case; for an operation over a WebSocket, those of its opening handshake. They contain the credential. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Undefined until `onContext`; null for an anonymous caller, and where the gateway leaves credentials to its subgraphs. */
  readonly caller: ExtensionCaller | null | undefined;
  /** What extensions keep until the end of the request. */
  readonly state: Map<unknown, unknown>;
}

/** Whom an access token was issued to. */
export interface ExtensionCaller {
  readonly userId: string;
  readonly role: string;
  readonly scopes: ReadonlySet<string>;
  readonly clientId: string | null;
}

interface RefusingEvent {
  /**
   * Refuses the request with an error code of docs/rest.md, such as `FORBIDDEN`, and a message for the client. Never returns.
   */
  readonly refuse: (code: string, message: string) => never;
}

export interface RequestEvent extends RefusingEvent {
  readonly request: ExtensionRequest;
  /** Sets a header of the HTTP response; without effect over a WebSocket. Throws a TypeError for a header that the gateway decides. */
  readonly setResponseHeader: (name: string, value: string) => void;
}

export interface ContextEvent extends RequestEvent {
  /**
   * Sets a header of every fetch of this request. It counts as part of the caller's identity: subscriptions are shared only where it is equal. Throws
   * a TypeError for a header of the message or the connection.
   */
  readonly setSubgraphHeader: (name: string, value: string) => void;
  /**
   * Activates labels of progressive `@override` for this request, besides those of the settings; ones that the supergraph does not have are ignored.
   * They count as part of the caller's identity. The last call counts. Throws a TypeError for what is not a list of at most 50 labels.
   */
  readonly setOverrideLabels: (labels: readonly string[]) => void;
}

export interface SubscribeEvent extends RequestEvent {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface OperationEvent extends SubscribeEvent {
  /**
   * Replaces members of the operation, for the hooks that follow and for the gateway. What it gives is checked like what a client sends, except that
   * it need not be a trusted document; variables must be JSON. Throws a TypeError for values of other types, for members that do not exist, and for
   * variables of a request with files.
   */
  readonly setOperation: (replacement: OperationReplacement) => void;
}

/** Members of an operation to replace; others stay as they are. A `query` with one operation needs no `operationName`, which may be null. */
export interface OperationReplacement {
  readonly query?: string;
  readonly operationName?: string | null;
  readonly variables?: Readonly<Record<string, unknown>>;
}

export type OperationKind = 'query' | 'mutation' | 'subscription';

export interface PlanEvent extends RequestEvent {
  readonly operationKind: OperationKind;
  readonly operationName: string | undefined;
  /** The estimated cost. */
  readonly cost: number;
  /** Returns the subgraphs that the plan fetches from, and the document of each fetch. Those that a condition leaves out are among them. */
  readonly listFetches: () => readonly { readonly subgraph: string; readonly query: string }[];
}

export interface SubgraphRequestEvent extends RefusingEvent {
  /** Undefined for events of public subscriptions, which subscribers of several callers share. */
  readonly request: ExtensionRequest | undefined;
  readonly subgraph: string;
  readonly url: string;
  readonly isMutation: boolean;
  /** The whole body, as JSON. The body of a fetch with files has it as its part `operations`. */
  readonly body: string;
  /** Sets a header of this fetch, after the rules for headers. Throws as `setSubgraphHeader`. */
  readonly setHeader: (name: string, value: string) => void;
}

export interface SubgraphResponseEvent {
  /** Undefined for events that several subscribers may share: those of public subscriptions, and all where no extension has `onSubgraphRequest`. */
  readonly request: ExtensionRequest | undefined;
  readonly subgraph: string;
  readonly durationMs: number;
  /** The HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** The error code of a fetch without a response, such as `UPSTREAM_TIMEOUT`. */
  readonly failure: string | undefined;
  /** Returns a header of the response; several values are joined by `, `. Valid during the call only. */
  readonly header: (name: string) => string | undefined;
}

export interface ResponseEvent extends RequestEvent {
  /** Undefined for an operation that was refused before it was planned. */
  readonly operationKind: OperationKind | undefined;
  readonly operationName: string | undefined;
  /** `refused` before execution, `failed` without data, `partial` with data and errors. */
  readonly outcome: 'refused' | 'failed' | 'partial' | 'complete';
  /** Returns the result as JSON. Valid until the hook has ended. */
  readonly readBody: () => string;
  /**
   * Replaces the result by the JSON text of an object, for the hooks that follow and for the client. The HTTP status stays. The response may not be
   * cached by HTTP then, and caches of the gateway keep the result as it was. Throws a TypeError for other texts, for texts above 32 MiB, and for the first
   * of several incremental responses.
   */
  readonly setBody: (json: string) => void;
}

export interface StreamEvent {
  readonly operationName: string | undefined;
  readonly subscribers: number;
  /** Returns the result as JSON. */
  readonly readBody: () => string;
}
