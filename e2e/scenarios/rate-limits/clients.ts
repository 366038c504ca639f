/** Clients at their own addresses, of bridges and gateways with low limits, behind the trusted proxy that the test is. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { RunningProcess } from '../../stack/processes/process.ts';

/** Settings of a bridge or gateway that takes the word of the test for the addresses of clients. */
export const TRUSTING = { TRUSTED_PROXIES: '127.0.0.1' };

/** Settings of a bridge or gateway with limits that a test reaches. */
export const LIMITS = { ...TRUSTING, RATE_LIMIT_ANONYMOUS_PER_MIN: '3', RATE_LIMIT_FREE_PER_MIN: '5' };

export interface Sent {
  readonly from: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams;
}

/** Sends a request from an address. `left` is what the limit leaves. */
export async function send(process: RunningProcess, path: string, { from, headers = {}, ...init }: Sent) {
  const response = await fetch(`${process.url}${path}`, { ...init, headers: { ...headers, 'x-forwarded-for': from }, redirect: 'manual' });
  const text = await response.text();
  const read = (name: string) => response.headers.get(name);
  return { status: response.status, text, read, left: read('x-ratelimit-remaining') };
}

/** Sends bytes from the test's own address. Returns the status and what is left of the limit, of each response until the connection ends. */
export async function sendBytes({ port }: RunningProcess, text: string) {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await once(socket, 'close');
  const heads = received.split(/(?=HTTP\/1\.1 \d)/).filter((head) => /ratelimit-policy: "anonymous";q=3;w=60/i.test(head));
  return heads.map((head) => [/^HTTP\/1\.1 (\d+)/, /x-ratelimit-remaining: (\d+)/i].map((pattern) => Number(pattern.exec(head)?.[1])));
}

/** Sends an operation to a gateway. */
export function postTo(gateway: RunningProcess, query: string, { from, headers }: Pick<Sent, 'from' | 'headers'>) {
  const all = { 'content-type': 'application/json', ...headers };
  return send(gateway, '/graphql', { from, method: 'POST', headers: all, body: JSON.stringify({ query }) });
}
