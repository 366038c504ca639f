/** The WebSocket transport: graphql-ws on `/graphql`, with the same identities, operations and errors as over HTTP. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import type { Log } from '@trestle/log';
import { Fault, fail } from '@trestle/schema/errors';
import { toLimitFault } from '@trestle/schema/limit-fault';
import { closeSocket } from '@trestle/service/server/close-socket';
import { refuseUpgrade } from '@trestle/service/server/refuse-upgrade';
import {
  type DocumentNode,
  type ExecutionArgs,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  OperationTypeNode,
  getOperationAST,
  parse,
} from 'graphql';
import {
  CloseCode,
  type ConnectionInitMessage,
  type OperationResult,
  type ServerOptions,
  type SubscribePayload,
  handleProtocols,
  makeServer,
} from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { MAX_TOKENS } from '../graphql/document-limits.ts';
import { limitNesting } from '../graphql/nesting-limit.ts';
import { findDocumentError } from '../graphql/validate-document.ts';
import { MessageTurns } from '@trestle/service/process/message-turns';
import { OperationFailure, type Results } from './operation.ts';
import type { SocketOperations } from './operations.ts';
import { QueryTurns } from './query-turns.ts';
import { parseResume } from './resume.ts';
import { type Session, openSession } from './session.ts';
import { resumeSocket, serveSocket } from './transport.ts';

const MAX_MESSAGE_BYTES = 1024 * 1024;
const INIT_WAIT_MS = 3000;
const MAX_OPERATIONS = 1000;
/** How long operations in flight may take while the process stops, and how long peers may take to close. */
const DRAIN_MS = 3000;
const CLOSE_MS = 1000;
/** RFC 6455 §7.4.1: the server shuts down. */
const GOING_AWAY = 1001;
const INVALID_TOKEN = 'The access token has expired or was revoked.';

/** The WebSocket server of a subgraph. */
export interface SocketServer {
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Waits for queries and mutations in flight, then closes every socket with 1001. */
  readonly close: () => Promise<void>;
}

/** The dependencies of the server. */
export interface SocketServerOptions {
  readonly schema: GraphQLSchema;
  readonly operations: SocketOperations;
  readonly verifier: TokenVerifier;
  readonly log: Log;
}

interface Peer {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  session?: Session;
}

type InitialisedPeer = Peer & { readonly session: Session };

/** What graphql-ws passes from the message of an operation to its execution. */
type Prepared = ExecutionArgs & { readonly run: () => Results };

/** Creates the server; `upgrade` accepts connections on `/graphql` and answers 404 elsewhere. */
export function createSocketServer({ schema, operations, verifier, log }: SocketServerOptions): SocketServer {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols,
    clientTracking: true,
    // Otherwise all messages that have arrived are handled at once, and everything else waits for them.
    allowSynchronousEvents: false,
  });
  const inFlight = new Set<Promise<unknown>>();
  const turns = new QueryTurns();
  const messageTurns = new MessageTurns();
  const runInTurn = (socket: WebSocket, start: () => Results) =>
    track(
      turns.run(socket, start, () => {
        resumeSocket(socket, () => turns.isFull(socket));
      }),
      inFlight,
    );
  const prepare = ({ socket, session }: InitialisedPeer, payload: SubscribePayload) =>
    prepareOperation(payload, { session, schema, operations, runInTurn: (start) => runInTurn(socket, start) });
  const readBuffered = () => Array.from(sockets.clients).reduce((sum, { bufferedAmount }) => sum + bufferedAmount, 0);
  const server = makeServer<ConnectionInitMessage['payload'], Peer>(createHandlers({ operations, verifier, prepare }));

  return {
    upgrade(request, socket, head) {
      if (request.url?.split('?')[0] !== '/graphql') {
        refuseUpgrade(socket, { status: 404 });
        return;
      }
      sockets.handleUpgrade(request, socket, head, (peer) => {
        const isFull = () => turns.isFull(peer);
        serveSocket(server, peer, { extra: { socket: peer, request }, log, turns: messageTurns, isFull, readBuffered });
      });
    },

    async close() {
      await atMost(DRAIN_MS, Promise.allSettled([...inFlight]));
      // The results of operations that have just ended are sent before the sockets are closed.
      await nextTurn();
      const closed = [...sockets.clients].map((peer) => {
        const closing = new Promise((resolve) => peer.once('close', resolve));
        closeSocket(peer, GOING_AWAY, 'Going away');
        return closing;
      });
      await atMost(CLOSE_MS, Promise.all(closed));
      for (const peer of sockets.clients) peer.terminate();
      sockets.close();
    },
  };
}

interface HandlerOptions extends Pick<SocketServerOptions, 'operations' | 'verifier'> {
  readonly prepare: (peer: InitialisedPeer, payload: SubscribePayload) => Prepared;
}

/** Creates what graphql-ws calls for each message. */
function createHandlers({ operations, verifier, prepare }: HandlerOptions): ServerOptions<ConnectionInitMessage['payload'], Peer> {
  return {
    connectionInitWaitTimeout: INIT_WAIT_MS,
    onConnect: ({ connectionParams, extra }) => connect(extra, connectionParams ?? {}, verifier),
    onSubscribe({ extra: { socket, request, session }, subscriptions }, _id, payload) {
      try {
        if (!session || session.isInvalid()) throw fail('UNAUTHORIZED', INVALID_TOKEN);
        if (Object.keys(subscriptions).length > MAX_OPERATIONS)
          throw toLimitFault(`A socket carries at most ${String(MAX_OPERATIONS)} operations at a time.`, { limit: MAX_OPERATIONS });
        return prepare({ socket, request, session }, payload);
      } catch (error) {
        return [toGraphqlError(error)];
      }
    },
    execute: run,
    subscribe: run,
    onNext: (...args) => args[4] as FormattedExecutionResult,
    // eslint-disable-next-line size/max-params -- graphql-ws passes the errors as the last of four
    onError: ({ extra: { session } }, _id, _payload, errors) => {
      const [{ originalError } = {}] = errors;
      if (originalError instanceof OperationFailure) return originalError.errors;
      return session ? operations.toFormatted(errors, session) : [];
    },
    onClose: ({ extra }) => {
      extra.session?.close();
    },
  };
}

/** Opens the session of a peer. Closes the socket and returns false when the credential is refused. */
function connect(peer: Peer, params: Readonly<Record<string, unknown>>, verifier: TokenVerifier): boolean {
  try {
    peer.session = openSession(peer.request, params, {
      verifier,
      isClosed: () => peer.socket.readyState === peer.socket.CLOSED,
      onInvalid: () => {
        closeSocket(peer.socket, CloseCode.Forbidden, INVALID_TOKEN);
      },
    });
    return true;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // The first code that is sent counts; that of graphql-ws would be 4403.
    if (error.code === 'UNAUTHORIZED') closeSocket(peer.socket, CloseCode.Unauthorized, 'Unauthorized');
    else closeSocket(peer.socket, CloseCode.BadRequest, error.message);
    return false;
  }
}

interface PrepareOptions extends Pick<SocketServerOptions, 'schema' | 'operations'> {
  readonly session: Session;
  /** Starts a query or a mutation when it is its turn. */
  readonly runInTurn: (start: () => Results) => Results;
}

/** Parses and validates an operation. Throws GraphQLError or VALIDATION_ERROR. */
function prepareOperation(
  { query, operationName, variables, extensions }: SubscribePayload,
  { session, schema, operations, runInTurn }: PrepareOptions,
): Prepared {
  limitNesting({ query, variables });
  const document = parseDocument(schema, query);
  const kind = getOperationAST(document, operationName)?.operation;
  if (!kind) throw fail('VALIDATION_ERROR', '`operationName` must name one operation of the document.');
  const isSubscription = kind === OperationTypeNode.SUBSCRIPTION;
  const operation = {
    document,
    query,
    operationName: operationName ?? undefined,
    variables: variables ?? undefined,
    session,
    resume: isSubscription ? parseResume(extensions) : undefined,
  };
  const start = () => (isSubscription ? operations.subscribe(operation) : runInTurn(() => operations.runOnce(operation)));
  return { schema, document, operationName: operationName ?? null, run: start };
}

/** Adds each pending result to `inFlight`. */
function track(results: Results, inFlight: Set<Promise<unknown>>): Results {
  const next = results.next.bind(results);
  results.next = () => {
    const result = next();
    inFlight.add(result);
    const leave = () => inFlight.delete(result);
    result.then(leave, leave);
    return result;
  };
  return results;
}

/** The errors of the results are formatted already: see `onNext`, and OperationFailure. */
function run(args: ExecutionArgs): OperationResult {
  return (args as Prepared).run() as unknown as OperationResult;
}

/** Throws GraphQLError for a syntax error, or a document that is not valid for the schema. */
function parseDocument(schema: GraphQLSchema, query: string): DocumentNode {
  const document = parse(query, { maxLexicalTokens: MAX_TOKENS });
  const error = findDocumentError(schema, document);
  if (error) throw error;
  return document;
}

/** An error of graphql-js in a document is an error of the client, with its locations. */
function toGraphqlError(error: unknown): GraphQLError {
  if (!(error instanceof GraphQLError)) {
    const originalError = error instanceof Error ? error : new Error(String(error));
    return new GraphQLError(originalError.message, { originalError });
  }
  const { message, source = null, positions = null, nodes = null } = error;
  return new GraphQLError(message, { source, positions, nodes, originalError: fail('VALIDATION_ERROR', message) });
}

/** Resolves when the work is done, or after the limit. */
async function atMost(limitMs: number, work: Promise<unknown>): Promise<void> {
  const limit = new AbortController();
  await Promise.race([work, delay(limitMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
  limit.abort();
}
