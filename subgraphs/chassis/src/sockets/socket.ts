/** The door for WebSockets: graphql-ws on `/graphql`, with the same identities, operations and errors as over HTTP. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { Log } from '@trestle/log';
import { Fault, fail } from '@trestle/schema/errors';
import { closeSocket } from '@trestle/service/close-socket';
import { refuseUpgrade } from '@trestle/service/refuse-upgrade';
import {
  type DocumentNode,
  type ExecutionArgs,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  OperationTypeNode,
  getOperationAST,
  parse,
  validate,
} from 'graphql';
import { CloseCode, type OperationResult, type SubscribePayload, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { readResume } from './resume.ts';
import { type Session, openSession } from './session.ts';
import { OperationFailure, type Results, type SocketOperations } from './socket-operations.ts';
import { carry } from './socket-transport.ts';

const MAX_MESSAGE_BYTES = 1024 * 1024;
/** The gateway takes less than a tenth of that from its own clients, and adds keys and type names to it. */
export const MAX_TOKENS = 50_000;
const INIT_WAIT_MS = 3000;
const MAX_OPERATIONS = 1000;
/** How long what was begun may take once the process was told to stop, and how long peers may take to say goodbye. */
const DRAIN_MS = 3000;
const FAREWELL_MS = 1000;
/** The code of RFC 6455 for a server that goes away. */
const GOING_AWAY = 1001;

export interface SocketDoor {
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Lets queries and mutations in hand be answered, then closes every socket with 1001. */
  readonly close: () => Promise<void>;
}

export interface SocketDoorOptions {
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

/** What graphql-ws passes on from a message to where it is run. */
type Prepared = ExecutionArgs & { readonly run: () => Results };

export function createSocketDoor({ schema, operations, verifier, log }: SocketDoorOptions): SocketDoor {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, handleProtocols, clientTracking: true });
  const inHand = new Set<Promise<unknown>>();

  const prepare = (session: Session, { query, operationName, variables, extensions }: SubscribePayload): Prepared => {
    const document = readDocument(schema, query);
    const kind = getOperationAST(document, operationName)?.operation;
    if (!kind) throw fail('VALIDATION_ERROR', 'The document does not say which operation to run');
    const isStream = kind === OperationTypeNode.SUBSCRIPTION;
    const operation = {
      document,
      query,
      operationName: operationName ?? undefined,
      variables: variables ?? undefined,
      session,
      resume: isStream ? readResume(extensions) : undefined,
    };
    const run = () => (isStream ? operations.subscribe(operation) : track(operations.runOnce(operation)));
    return { schema, document, operationName: operationName ?? null, run };
  };

  const track = (results: Results): Results => {
    const next = results.next.bind(results);
    results.next = () => {
      const result = next();
      inHand.add(result);
      const leave = () => inHand.delete(result);
      result.then(leave, leave);
      return result;
    };
    return results;
  };

  const server = makeServer<Record<string, unknown>, Peer>({
    connectionInitWaitTimeout: INIT_WAIT_MS,
    onConnect({ connectionParams, extra }) {
      try {
        extra.session = openSession(extra.request, connectionParams ?? {}, {
          verifier,
          onOver: () => {
            closeSocket(extra.socket, CloseCode.Forbidden, 'The access token has ended');
          },
        });
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        // The first code that is given is the one that is sent; graphql-ws's own would be 4403.
        if (error.code === 'UNAUTHORIZED') closeSocket(extra.socket, CloseCode.Unauthorized, 'Unauthorized');
        else closeSocket(extra.socket, CloseCode.BadRequest, error.message);
        return false;
      }
      return true;
    },
    onSubscribe({ extra: { session }, subscriptions }, _id, payload) {
      try {
        if (!session || session.isOver()) throw fail('UNAUTHORIZED', 'The access token has ended');
        if (Object.keys(subscriptions).length > MAX_OPERATIONS)
          throw fail('RATE_LIMIT_EXCEEDED', `A socket carries at most ${String(MAX_OPERATIONS)} operations at a time`);
        return prepare(session, payload);
      } catch (error) {
        return [toGraphqlError(error)];
      }
    },
    execute: run,
    subscribe: run,
    onNext: (_context, _id, _payload, _args, result) => result as FormattedExecutionResult,
    onError: ({ extra: { session } }, _id, _payload, errors) => {
      const [{ originalError } = {}] = errors;
      if (originalError instanceof OperationFailure) return originalError.errors;
      return session ? operations.toFormatted(errors, session) : [];
    },
    onClose: ({ extra }) => {
      extra.session?.close();
    },
  });

  return {
    upgrade(request, socket, head) {
      if (request.url?.split('?')[0] !== '/graphql') {
        refuseUpgrade(socket, '404 Not Found');
        return;
      }
      sockets.handleUpgrade(request, socket, head, (peer) => {
        carry(server, peer, { extra: { socket: peer, request }, log });
      });
    },

    async close() {
      await inTime(Promise.allSettled([...inHand]), DRAIN_MS);
      // The answers of what has just ended are sent before the goodbye.
      await new Promise((resolve) => setImmediate(resolve));
      const closed = [...sockets.clients].map((peer) => {
        const gone = new Promise((resolve) => peer.once('close', resolve));
        closeSocket(peer, GOING_AWAY, 'Going away');
        return gone;
      });
      await inTime(Promise.all(closed), FAREWELL_MS);
      for (const peer of sockets.clients) peer.terminate();
      sockets.close();
    },
  };
}

/** The errors of its results are as they are told already: see `onNext`, and OperationFailure. */
function run(args: ExecutionArgs): OperationResult {
  return (args as Prepared).run() as unknown as OperationResult;
}

/** Throws GraphQLError for a document that can't be read or does not fit the schema. */
function readDocument(schema: GraphQLSchema, query: string): DocumentNode {
  const document = parse(query, { maxLexicalTokens: MAX_TOKENS });
  const [error] = validate(schema, document);
  if (error) throw error;
  return document;
}

/** What graphql-js finds wrong with a document is the client's fault, and is told with its places. */
function toGraphqlError(error: unknown): GraphQLError {
  if (!(error instanceof GraphQLError)) {
    const originalError = error instanceof Error ? error : new Error(String(error));
    return new GraphQLError(originalError.message, { originalError });
  }
  const { message, source = null, positions = null, nodes = null } = error;
  return new GraphQLError(message, { source, positions, nodes, originalError: fail('VALIDATION_ERROR', message) });
}

async function inTime(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, limitMs)))]);
  clearTimeout(timer);
}
