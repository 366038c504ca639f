/** A client with many queries on its WebSocket does not delay the queries of another client: what waits begins for each client in turn. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { createHarbours } from '../../stack/federation/harbours.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';

const MANY = 100;
const FEW = 8;
/** As many as the gateway opens to a subgraph: further fetches would wait for one of them. */
const CONNECTIONS = 64;

let federation: Federation;
const agent = new Agent({ keepAlive: true });
beforeAll(async () => {
  federation = await startFederation(createHarbours().sources, { env: { MAX_OPERATIONS_PER_SOCKET: String(MANY) } });
});
afterAll(async () => {
  agent.destroy();
  await federation.stop();
});

/** A request that is on its way. */
interface Sent {
  /** Resolves when all of it is written. */
  readonly written: Promise<unknown>;
  readonly status: Promise<number | undefined>;
}

/** Sends a query from another address than that of the socket. */
function askFromElsewhere(query: string): Sent {
  const { hostname, port, pathname } = new URL(federation.url);
  const headers = { 'content-type': 'application/json' };
  const sent = request({ hostname, port, path: pathname, method: 'POST', localAddress: '127.0.0.2', agent, headers });
  const written = once(sent, 'finish');
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.once('error', reject).once('response', (response) => {
      response.resume().once('end', () => {
        resolve(response.statusCode);
      });
    });
  });
  sent.end(JSON.stringify({ query }));
  return { written, status };
}

const askFew = () => Array.from({ length: FEW }, () => askFromElsewhere('{ few: ships { name } }'));
const countReceived = (name: string) => federation.received.filter(({ query }) => query.includes(name)).length;

describe('queries of a client on a WebSocket', () => {
  it(`are executed after ${String(FEW)} queries that another client sends later, but for those that have begun`, async () => {
    const pid = federation.gateway.pid ?? 0;
    const socket = await openSocket(federation.url);
    const sendMany = (count: number) => {
      for (let n = 0; n < count; n++) socket.send({ id: String(n), type: 'subscribe', payload: { query: '{ many: ships { id } }' } });
    };
    // Both documents are planned, and the connections of both clients are open.
    sendMany(1);
    await socket.next(({ type }) => type === 'complete');
    await Promise.all(askFew().map(({ status }) => status));
    federation.received.length = 0;
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    federation.intercept = ({ query }) => {
      if (countReceived('few') === FEW || countReceived('many') >= CONNECTIONS - FEW) answer();
      return query.includes('many') ? answered : undefined;
    };
    sendMany(MANY);
    socket.send({ type: 'ping' });
    await socket.next(({ type }) => type === 'pong');
    // The gateway has read the many. It finds the few all at once, however fast this process sends them.
    process.kill(pid, 'SIGSTOP');
    const few = askFew();
    await Promise.all(few.map(({ written }) => written));
    process.kill(pid, 'SIGCONT');

    expect(await Promise.all(few.map(({ status }) => status))).toEqual(few.map(() => 200));
    for (let n = 0; n < MANY; n++) await socket.next(({ type }) => type === 'complete');
    const queries = federation.received.map(({ query }) => query.includes('few'));
    expect(queries).toHaveLength(FEW + MANY);
    expect(queries.lastIndexOf(true)).toBeLessThan(CONNECTIONS);
    await socket.close();
  });
});
