/** What a subgraph passes to the chassis, and what it gets from it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Revocations } from '@trestle/identity/revocations/revocations';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import type { Verification } from '@trestle/identity/verification/verification';
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import type { Database } from '../database/database.ts';
import type { LateIndex } from '../database/late-indexes.ts';
import type { EventFeed } from '../events/feeds/domain-event.ts';
import type { Events } from '../events/source-streams/events.ts';
import type { Topics } from '../events/source-streams/topics.ts';
import type { ClientPosition } from '../events/source-streams/client-position.ts';
import type { EventSelection } from '../events/outbox/event-selection.ts';
import type { SourceStream } from '../events/source-streams/source-stream.ts';
import type { SubgraphSchema } from '../graphql/schema.ts';
import type { JobWorker, JobWorkerOptions } from '../jobs/worker.ts';
import type { JobStores } from '../jobs/job-work.ts';
import type { RequestContext } from '../request/context.ts';
import type { SocketServer } from '../sockets/socket-server.ts';
import type { UploadOptions } from '../uploads/read-files.ts';
import type { Sweep } from './sweeps.ts';

/** The parts of a subgraph. */
export interface Subgraph<Context extends RequestContext> extends SubgraphSchema {
  /** The topics that clients and the subgraph itself can subscribe to. */
  readonly topics?: Topics;
  /** Source streams of topics whose events are not in the outbox, by the topic. */
  readonly sources?: Readonly<Record<string, OpenSource>>;
  /** Adds the subgraph's own stores and loaders to the context of a request. */
  readonly createContext: (request: RequestContext) => Context;
  /** Handles requests for other paths than `/graphql`, by the beginning of the path. The key ends with `/` unless it is a whole path. */
  readonly endpoints?: Readonly<Record<string, Endpoint>>;
  /** Where the files of requests are stored; undefined for a subgraph that accepts none. */
  readonly uploads?: UploadOptions | undefined;
  /** Starts what runs beside requests. Called once events can be read: the subgraph's own live, and those of all subgraphs by their feeds. */
  readonly startBackground?: (events: Events, feeds: readonly EventFeed[], metrics: Registry) => Background;
  /** Starts the worker of the subgraph's jobs. Called once the queue is migrated; a subgraph without jobs has none. */
  readonly startJobs?: (options: Omit<JobWorkerOptions<JobStores>, 'jobs'>) => JobWorker;
  /** Starts durable consumers of events (`consumeFeed`). Called once the subgraph serves requests. */
  readonly startConsumers?: (options: ConsumersOptions) => RunningConsumers;
  /** Indexes that migrations leave out of tables with rows. They are created once the subgraph serves requests. */
  readonly lateIndexes?: readonly LateIndex[];
  /** Delete expired rows and files without rows. They run regularly, in this order. */
  readonly sweeps?: readonly Sweep[];
  /** Closes what the subgraph has opened. */
  readonly close?: () => Promise<void>;
}

/** Creates the stream of the selected events, from behind the position `after`, or from now on. */
export type OpenSource = (selection: EventSelection, after?: ClientPosition) => SourceStream;

/** Handles an HTTP request, and sends its response. It must not throw. */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => void;

/** What a subgraph runs beside requests. */
export interface Background {
  /** WebSocket endpoints for other processes of this system, by path. */
  readonly upgrades: Readonly<Record<string, SocketServer['upgrade']>>;
  /** Stops it, and closes the connections to its endpoints. */
  readonly stop: () => void;
}

/** What consumers of events are started with. */
export interface ConsumersOptions {
  /** The events of all subgraphs that this process can read. */
  readonly feeds: readonly EventFeed[];
  /** The address of the subgraph's own database. */
  readonly url: string;
  readonly metrics: Registry;
}

/** Consumers that run. */
export interface RunningConsumers {
  /** Resolves when their transactions have ended. */
  readonly stop: () => Promise<void>;
}

/** What every subgraph is created with. */
export interface Chassis {
  readonly database: Database;
  /** The revoked tokens that this process knows of. */
  readonly revocations: Revocations;
  /** Verifies access tokens, with these revocations. */
  readonly verifier: TokenVerifier;
  /** Returns our public keys, for publication. */
  readonly publicKeys: Verification['publicKeys'];
  readonly log: Log;
}
