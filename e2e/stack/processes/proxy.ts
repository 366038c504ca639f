/** A small load balancer on node:http, for machines without nginx. It behaves as the configuration of nginx in front.ts. */
import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { pipeline } from 'node:stream';

/** As nginx has it. */
const KEEP_ALIVE_MS = 75_000;

/** Starts it on a port of the loopback interface, 0 for a free one, before the servers on these ports. */
export async function startProxy(ports: readonly number[], port = 0): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  let turn = 0;
  // A request begins at the server after that of the request before; one that is refused goes on to the next from there.
  const openTurn = () => {
    let next = turn++;
    return () => ports[next++ % ports.length] ?? 0;
  };
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (from, to) => {
    pass({ from, to, agent, nextPort: openTurn() }, ports.length);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (from: IncomingMessage, socket: Socket, head: Buffer) => {
    passSocket({ from, socket, head, nextPort: openTurn() }, ports.length);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    async stop() {
      agent.destroy();
      // `closeAllConnections` does not know those that were upgraded.
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}

interface Passing {
  readonly from: IncomingMessage;
  readonly to: ServerResponse;
  readonly agent: Agent;
  readonly nextPort: () => number;
}

/** Sends the request to a server, and to the next one as long as the connection is refused. */
function pass(passing: Passing, attempts: number): void {
  const { from, to, agent, nextPort } = passing;
  const { method = 'GET', url: path } = from;
  const headers = { ...from.headers, 'x-forwarded-for': toForwardedFor(from), connection: 'keep-alive' };
  const outgoing = request({ host: '127.0.0.1', port: nextPort(), method, path, agent, headers });
  outgoing.on('response', (answer) => {
    // How long a connection is kept is a matter of its two ends (RFC 9110 §7.6.1): a client would use one that this proxy has just closed.
    delete answer.headers['keep-alive'];
    to.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: 'keep-alive' });
    to.flushHeaders();
    // A response that is cut off is cut off for the client too.
    pipeline(answer, to, () => undefined);
    // A server may answer before it has read the body. What is left of it is discarded, so that the client gets the response.
    to.once('finish', () => {
      from.unpipe(outgoing);
      from.resume();
    });
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    const isUnsent = error.code === 'ECONNREFUSED' || (outgoing.reusedSocket && ['GET', 'HEAD'].includes(method));
    // After the beginning of the response its end decides: the server may refuse the rest of the body.
    if (to.destroyed || to.headersSent) return;
    if (isUnsent && attempts > 1) pass(passing, attempts - 1);
    else to.writeHead(502, { connection: 'close' }).end(`${String(error.code)}: ${error.message}`);
  });
  to.once('close', () => {
    if (!to.writableFinished) outgoing.destroy();
  });
  sendWhenConnected(from, outgoing);
}

/** Reads nothing of the body before there is a connection, so that it can still be sent to another server. */
function sendWhenConnected(from: IncomingMessage, outgoing: ClientRequest): void {
  outgoing.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', () => from.pipe(outgoing));
    else from.pipe(outgoing);
  });
}

interface PassingSocket {
  readonly from: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly nextPort: () => number;
}

/** Sends the request of an upgrade as it came, and then the bytes of both sides. */
function passSocket(passing: PassingSocket, attempts: number): void {
  const { from, socket, head, nextPort } = passing;
  const server = connect(nextPort(), '127.0.0.1');
  server.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNREFUSED' && attempts > 1) passSocket(passing, attempts - 1);
    else socket.destroy();
  });
  server.once('connect', () => {
    const lines = from.rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${from.rawHeaders[at + 1] ?? ''}`] : []));
    server.write(`${String(from.method)} ${String(from.url)} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    server.write(head);
    pipeline(server, socket, server, () => undefined);
  });
}

function toForwardedFor({ headers, socket }: IncomingMessage): string {
  const before = headers['x-forwarded-for'];
  return [...(before === undefined ? [] : [before].flat()), socket.remoteAddress ?? ''].join(', ');
}
