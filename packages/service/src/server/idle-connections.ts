/** Makes `closeIdleConnections` keep the connections whose response has been ended but not sent: Node.js closes them, and the client loses the rest. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The internal reference to the response that a connection sends, and what Node.js reads of it. */
interface SendingSocket extends Socket {
  readonly _httpMessage?: { finished: boolean; readonly writableFinished: boolean } | null;
}

/** Does so for the connections that a new server gets from now on. `Server.close` calls the method, too. */
export function keepSending(server: Server): void {
  const sockets = new Set<SendingSocket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    const sending = [...sockets].flatMap(({ _httpMessage: response }) =>
      response?.finished === true && !response.writableFinished ? [response] : [],
    );
    // Node.js takes a connection for one with a request in flight until its response is `finished`.
    for (const response of sending) response.finished = false;
    closeIdle();
    for (const response of sending) response.finished = true;
  };
}
