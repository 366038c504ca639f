/** What stands behind the gateway's doors: one of two engines, `trestle` or `apollo`, chosen by GATEWAY_ENGINE. */
import type { Caller } from '@trestle/identity';
import type { Scope } from '@trestle/telemetry';
import type { GraphQLFormattedError } from 'graphql';
import type { OperationKind } from '../program/program.ts';
import type { Resume } from '../request/position.ts';
import type { Trail } from '../request/trail.ts';

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
  /** Who listens if the operation is a subscription; without one it is refused. */
  readonly listener?: Listener | undefined;
  /** Whether the listener is to be told positions, and from behind which it goes on. */
  readonly resume?: Resume | undefined;
}

/** One listener of a subscription, which is a door's. It is told everything in order, and nothing after the end. */
export interface Listener {
  /** Called once, before all else, when the subscription was taken. */
  begin(subscription: Subscription): void;
  next(event: LiveEvent): void;
  end(end: StreamEnd): void;
}

export interface Subscription {
  /** Nothing is told from here on. */
  stop(): void;
  /** Calls back when all that had come when it was called is told; then nothing is. */
  finish(done: () => void): void;
  readonly operationName: string | undefined;
}

export interface LiveEvent {
  /** One execution result as JSON. It is shared with all who listen, and never changes. */
  readonly bytes: Buffer;
  /** When its subgraph told it, by `performance.now()`. */
  readonly receivedAt: number;
  /** How far a client that was told it has come; it is in the bytes as well. Undefined unless it was asked for, and where the subgraph tells none. */
  readonly position?: string | undefined;
}

/** Why a stream has ended: by itself, refused by its subgraph, and by what has been lost or changed on the way. */
export type EndCause = 'complete' | 'refused' | 'source-lost' | 'schema-reload' | 'overload' | 'unauthorized' | 'shutdown';

export interface StreamEnd {
  readonly cause: EndCause;
  /** Nothing for a stream that has told all that there was. */
  readonly errors: readonly GraphQLFormattedError[];
}

export interface Telling {
  readonly plan: boolean;
  readonly cost: boolean;
  readonly snapshot: boolean;
}

/** What goes along to the subgraphs, and what comes back beside their answers. */
export interface EngineContext {
  readonly caller: Caller | null;
  /** The client, as `clientOf` of `@trestle/service` names it: the planner's time is shared out between clients. */
  readonly client: string | undefined;
  readonly requestId: string;
  /** Headers for every fetch, names and values in turn, {@link identity} among them. */
  readonly headers: readonly string[];
  /** Those of them that may change an answer: the caller's own credential and what the settings let through. */
  readonly identity: readonly string[];
  /** Sent with mutations only, as nothing else has to happen once. */
  readonly mutationHeaders: readonly string[];
  readonly trail: Trail;
  /** Undefined unless spans are exported or the client sent a trace to pass on. */
  readonly trace: Scope | undefined;
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
