/** The live side of a subgraph of which a test says every word (graphql-transport-ws). */
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface Subscribed {
  readonly id: string;
  /** The position that the gateway has. */
  readonly after: string | undefined;
  /** After how many events it is to complete. */
  readonly first: number | undefined;
  readonly socket: WebSocket;
}

export class ScriptedSource {
  #server: WebSocketServer | undefined;
  #port = 0;
  /** What it does with each `subscribe`. */
  serve: (subscribed: Subscribed) => void = () => undefined;
  /** The positions that it was asked to go on behind. */
  readonly asked: (string | undefined)[] = [];
  /** Whether it answers no pings, as a machine that was cut off. */
  isSilent = false;

  get url(): string {
    return `ws://127.0.0.1:${String(this.#port)}/`;
  }

  /** Where it was before, after a `close`. */
  async listen(): Promise<void> {
    const server = new WebSocketServer({
      port: this.#port,
      host: '127.0.0.1',
      handleProtocols: () => 'graphql-transport-ws',
      autoPong: false,
    });
    this.#server = server;
    await new Promise((resolve) => server.once('listening', resolve));
    this.#port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => {
      socket.on('ping', (data) => {
        if (!this.isSilent) socket.pong(data);
      });
      socket.on('message', (data: Buffer) => {
        this.#receive(socket, data);
      });
    });
  }

  async close(): Promise<void> {
    const server = this.#server;
    for (const socket of server?.clients ?? []) socket.terminate();
    await new Promise((resolve) => server?.close(resolve));
  }

  #receive(socket: WebSocket, data: Buffer): void {
    const { id, type, payload } = JSON.parse(data.toString()) as {
      id: string;
      type: string;
      payload?: { extensions?: { resume?: { after?: string; first?: number } } };
    };
    if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
    if (type !== 'subscribe') return;
    const resume = payload?.extensions?.resume;
    if (!resume) throw new Error('A subgraph is always asked for positions');
    this.asked.push(resume.after);
    this.serve({ id, after: resume.after, first: resume.first, socket });
  }
}

/** One result about a ship, or without one how far the stream has come. `padding` makes it larger. */
export function sendEvent(
  socket: WebSocket,
  { id, position, ship, padding }: { id: string; position?: number; ship?: number; padding?: string },
): void {
  const data = ship === undefined ? null : { arrived: { id: `s${String(ship)}`, name: 'Ship', __typename: 'Ship' } };
  const extensions = position === undefined ? {} : { extensions: { position: String(position), padding } };
  socket.send(JSON.stringify({ id, type: 'next', payload: { data, ...extensions } }));
}

/** Returns the ship in a message to a client. */
export function shipOf({ payload }: { payload?: unknown }): string {
  return (payload as { data: { arrived: { id: string } } }).data.arrived.id;
}
