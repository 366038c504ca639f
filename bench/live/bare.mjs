/** The lower bound: one subscription to the source, whose events are serialized once and sent to every socket, without checks, limits or further fetches. */
import { createServer } from 'node:http';
import { createClient } from 'graphql-ws';
import { WebSocket, WebSocketServer } from 'ws';

const upstream = createClient({ url: process.env.SOURCE.replace('http', 'ws'), webSocketImpl: WebSocket, lazy: true });
const listeners = new Map();
let stop;
const server = createServer();
const sockets = new WebSocketServer({ server, handleProtocols: () => 'graphql-transport-ws' });
sockets.on('connection', (socket) => {
  socket.on('message', (data) => {
    const { type, id, payload } = JSON.parse(data);
    if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
    if (type === 'subscribe') {
      listeners.set(socket, `{"id":"${id}","type":"next","payload":`);
      stop ??= upstream.subscribe(payload, {
        next: (result) => {
          const ready = `${JSON.stringify(result)}}`;
          for (const [each, head] of listeners) each.send(head + ready);
        },
        error: console.error,
        complete: () => undefined,
      });
    }
  });
  socket.on('close', () => {
    listeners.delete(socket);
    if (listeners.size > 0) return;
    stop?.();
    stop = undefined;
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
