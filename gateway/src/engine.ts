/** What stands behind the gateway's doors. One engine today, Apollo's; another can take its place behind this interface. */
import type { Caller } from '@trestle/identity';
import type { Trail } from './trail.ts';

/** One GraphQL request as it came through a door, with its caller already known. */
export interface EngineRequest {
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
  /** The query string with its question mark, or nothing. */
  readonly search: string;
  /** The parsed JSON body; undefined for GET. */
  readonly body: unknown;
  readonly context: EngineContext;
}

/** What goes along to the subgraphs, and what comes back beside their answers. */
export interface EngineContext {
  readonly caller: Caller | null;
  /** The caller's own credential, forwarded as it came; nothing for anonymous callers. */
  readonly authorization: string | undefined;
  readonly requestId: string;
  /** Sent with mutations only, as nothing else has to happen once. */
  readonly mutationHeaders: Readonly<Record<string, string>>;
  readonly trail: Trail;
}

export interface EngineReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Engine {
  /** Answers one request, by the GraphQL-over-HTTP specification. Never throws for what a client did. */
  respond(request: EngineRequest): Promise<EngineReply>;
  /** Serves another supergraph from now on; requests in hand end on the one they began with. Throws for one that is not valid, and serves on. */
  swap(supergraphSdl: string): Promise<void>;
  stop(): Promise<void>;
}
