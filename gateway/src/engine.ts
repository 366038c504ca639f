/** What stands behind the gateway's doors: one of two engines, `trestle` or `apollo`, chosen by GATEWAY_ENGINE. */
import type { Caller } from '@trestle/identity';
import type { OperationKind } from './execute/program.ts';
import type { RequestTrace } from './tracing.ts';
import type { Trail } from './trail.ts';

/** One GraphQL request as a door has read it; its document may still be wrong. */
export interface EngineRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  /** A GET must not change anything: mutations are refused (GraphQL over HTTP). */
  readonly isReadOnly: boolean;
  readonly context: EngineContext;
  /** What to tell in `extensions` besides the answer. */
  readonly tell: Telling;
}

export interface Telling {
  readonly plan: boolean;
  readonly cost: boolean;
  readonly snapshot: boolean;
}

/** What goes along to the subgraphs, and what comes back beside their answers. */
export interface EngineContext {
  readonly caller: Caller | null;
  readonly requestId: string;
  /** Headers for every fetch, names and values in turn: the caller's own credential and what the settings let through. */
  readonly headers: readonly string[];
  /** Sent with mutations only, as nothing else has to happen once. */
  readonly mutationHeaders: readonly string[];
  readonly trail: Trail;
  /** Undefined unless spans are exported. */
  readonly trace: RequestTrace | undefined;
}

/** How far a request came: `refused` before anything was run, `failed` with no data at all, `partial` with errors beside the data. */
export type Outcome = 'refused' | 'failed' | 'partial' | 'complete';

export interface EngineReply {
  readonly outcome: Outcome;
  /** For an outcome that is an HTTP status of its own, such as 401 or 405. */
  readonly status: number | undefined;
  readonly operationKind: OperationKind | undefined;
  readonly operationName: string | undefined;
  /** JSON; its first `length` bytes count, and they are the door's until it calls `release`. */
  readonly bytes: Buffer;
  readonly length: number;
  readonly release: (() => void) | undefined;
}

export interface Engine {
  /** Calls back once, never with an error: whatever a client did is in the reply. */
  respond(request: EngineRequest, done: (reply: EngineReply) => void): void;
  /** Serves another supergraph from now on; requests in hand end on the one they began with. Throws for one that can't be served, and serves on. */
  swap(supergraphSdl: string): Promise<void>;
  /** Of the supergraph that is served. */
  readonly hash: string;
  stop(): Promise<void>;
}
