/** Requests over raw sockets: exactly the bytes that an attack wants, and whether an answer came. */
import type { Address, Connections } from './connections.ts';
import { type RawReply, readReplies } from './http-reply.ts';

export interface Sent {
  readonly method?: string;
  readonly path: string;
  /** Name and value in turns, so that names may repeat. `Host` and `Connection: close` are there anyway. */
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
  /** How long to wait for the whole answer, in milliseconds. */
  readonly patienceMs?: number;
}

/** The text of one request; with a body its length is stated. */
export function toRequest({ method, path, headers = [], body }: Sent): Buffer {
  const verb = method ?? (body === undefined ? 'GET' : 'POST');
  const lines = [`${verb} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close'];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${String(headers[i])}: ${String(headers[i + 1])}`);
  const bytes = Buffer.from(body ?? '');
  if (body !== undefined) lines.push(`Content-Length: ${bytes.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}

const PATIENCE_MS = 30_000;

/** Sends one request and returns its answer. `status` 0 stands for none: the connection was closed, or the time was over. */
export async function ask(connections: Connections, address: Address, sent: Sent): Promise<RawReply> {
  const connection = await connections.open(address);
  connection.socket.write(toRequest(sent));
  const isHead = () => sent.method === 'HEAD';
  const last = () => readReplies(connection.received(), isHead).find(({ status }) => status >= 200);
  await connection.until(() => hasAll(last()), sent.patienceMs ?? PATIENCE_MS);
  const reply = last();
  connection.socket.destroy();
  return reply ?? { status: 0, headers: {}, body: Buffer.alloc(0), isWhole: false };
}

/** Whether the answer is whole; without a stated length only the end of the connection shows that. */
function hasAll(reply: RawReply | undefined): boolean {
  return reply !== undefined && reply.isWhole && (reply.headers['content-length'] ?? reply.headers['transfer-encoding']) !== undefined;
}

export interface GraphqlSent {
  readonly query?: string;
  readonly variables?: unknown;
  readonly operationName?: string;
  readonly extensions?: unknown;
}

/** A POST to `/graphql`; `headers` as in {@link Sent}. */
export function askGraphql(
  connections: Connections,
  address: Address,
  parameters: GraphqlSent,
  options: Pick<Sent, 'headers' | 'patienceMs'> = {},
): Promise<RawReply> {
  const headers = ['Content-Type', 'application/json', ...(options.headers ?? [])];
  return ask(connections, address, { ...options, path: '/graphql', headers, body: JSON.stringify(parameters) });
}

/** Attacks are bounded in time: no call begins later than this after the first one. */
const BEGIN_MS = 12_000;

/** Runs `count` calls, `width` at a time, or as many as begin in 12 s, and returns their results in the order they ended. */
export async function inParallel<T>(count: number, width: number, call: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  const deadline = Date.now() + BEGIN_MS;
  let next = 0;
  const work = async () => {
    while (next < count && Date.now() < deadline) results.push(await call(next++));
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, work));
  return results;
}

/** The statuses of many answers in short, e.g. `200 × 31, 503 × 9`; 0 is a connection that was closed without an answer. */
export function countStatuses(replies: readonly { readonly status: number }[]): string {
  const counts = new Map<number, number>();
  for (const { status } of replies) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status} × ${count}`)
    .join(', ');
}
