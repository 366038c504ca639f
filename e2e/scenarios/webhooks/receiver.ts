/** A receiver of webhooks: an HTTP server that records what it gets, and behaves as a test demands. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A delivery as it arrived. */
export interface Arrival {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly contentType: string;
  readonly body: string;
  readonly event: { readonly id: string; readonly type: string; readonly source: string; readonly subject: string; readonly data: object };
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers a delivery. */
export type Behaviour = (response: ServerResponse, arrival: Arrival, request: IncomingMessage) => void;

export interface Receiver {
  readonly url: string;
  readonly arrivals: Arrival[];
  /** How the next deliveries are answered; 204 by default. */
  behave: Behaviour;
  /** The open requests at this moment, and the most so far. */
  readonly load: { open: number; most: number };
  close(): Promise<void>;
}

export const answer =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end();

/** Starts a receiver on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const load = { open: 0, most: 0 };
  const receiver: { behave: Behaviour } = { behave: answer(204) };
  const server = createServer((request, response) => {
    load.open++;
    load.most = Math.max(load.most, load.open);
    response.on('close', () => load.open--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const arrival = toArrival(request, Buffer.concat(chunks).toString());
      arrivals.push(arrival);
      receiver.behave(response, arrival, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`,
    arrivals,
    load,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  });
}

/** Returns whether the official library accepts the signature with this secret. */
export function verifies(secret: string, { body, headers }: Arrival): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

function toArrival({ headers }: IncomingMessage, body: string): Arrival {
  const header = (name: string) => String(headers[name] ?? '');
  return {
    id: header('webhook-id'),
    timestamp: header('webhook-timestamp'),
    signature: header('webhook-signature'),
    contentType: header('content-type'),
    body,
    event: JSON.parse(body) as Arrival['event'],
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  };
}
