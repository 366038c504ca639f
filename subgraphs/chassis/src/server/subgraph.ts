/** What a subgraph passes to the chassis, and what it gets from it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Revocations } from '@trestle/identity/revocations';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { Verification } from '@trestle/identity/verification';
import type { Log } from '@trestle/log';
import type { Database } from '../database/database.ts';
import type { Events, Topics } from '../events/events.ts';
import type { SubgraphSchema } from '../graphql/schema.ts';
import type { RequestContext } from '../request/context.ts';
import type { SocketServer } from '../sockets/socket-server.ts';

/** The parts of a subgraph. */
export interface Subgraph<Context extends RequestContext> extends SubgraphSchema {
  /** The topics that clients and the subgraph itself can subscribe to. */
  readonly topics?: Topics;
  /** Adds the subgraph's own stores and loaders to the context of a request. */
  readonly createContext: (request: RequestContext) => Context;
  /** Handles requests for other paths than `/graphql`, by the beginning of the path. The key ends with `/` unless it is a whole path. */
  readonly endpoints?: Readonly<Record<string, Endpoint>>;
  /** Starts what runs beside requests. Called once events can be read. */
  readonly startBackground?: (events: Events) => Background;
  /** Deletes expired rows. Called regularly while the process runs. */
  readonly sweep?: () => Promise<void>;
  /** Closes what the subgraph has opened. */
  readonly close?: () => Promise<void>;
}

/** Handles an HTTP request, and sends its response. It must not throw. */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => void;

/** What a subgraph runs beside requests. */
export interface Background {
  /** WebSocket endpoints for other processes of this system, by path. */
  readonly upgrades: Readonly<Record<string, SocketServer['upgrade']>>;
  /** Stops it, and closes the connections to its endpoints. */
  readonly stop: () => void;
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
