/** Subscriptions of subgraphs that verify signatures, by each protocol. */
import { type IncomingMessage, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findSignatureFault } from '@trestle/http-client/verify-signature';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { type Credentials, CredentialsError } from '../signing/credentials.ts';
import { createRequestSigner } from '../signing/request-signer.ts';
import { DEFAULT_SIGNING } from '../signing/signing-settings.ts';
import { CallbackRegistry } from './callbacks/callback-registry.ts';
import { createSubscriptionPools } from './subscription-pools.ts';
import type { SubscriptionProtocol } from './subscription-upstream.ts';

const EXPECTED = { keys: { id: { secret: 's', token: 't' } }, region: 'eu-central-1', service: 'execute-api' };
const SIGNING = { ...DEFAULT_SIGNING, region: EXPECTED.region, service: EXPECTED.service };
const PAYLOAD = { query: 'subscription { tick }', operationName: undefined, variables: {}, extensions: {} };

describe('a subscription that is signed', () => {
  let server: Server;
  let sockets: WebSocketServer;
  let url: string;
  let faults: (string | undefined)[];
  const registry = new CallbackRegistry({ url: 'http://127.0.0.1:9/callbacks', heartbeatMs: 60_000 });
  const pools = createSubscriptionPools(60_000, registry);

  const answer = async (request: IncomingMessage) => {
    const body = await buffer(request);
    faults.push(findSignatureFault(request, body, EXPECTED));
    const { extensions } = JSON.parse(body.toString()) as { extensions: { subscription?: { subscriptionId: string; verifier: string } } };
    const { subscription } = extensions;
    if (!subscription) return { type: 'text/event-stream', body: 'event: next\ndata: {"data":{"tick":1}}\n\nevent: complete\n\n' };
    const { subscriptionId: id, verifier } = subscription;
    const message = { kind: 'subscription', action: 'next', id, verifier, payload: { data: { tick: 1 } } };
    registry.receive(id, JSON.stringify(message));
    return { type: 'application/json', body: '{"data":null}' };
  };

  beforeEach(async () => {
    faults = [];
    server = createServer((request, response) => {
      answer(request).then(
        ({ type, body }) => response.setHeader('content-type', type).end(body),
        () => response.destroy(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql?x=1`;
    const verifyClient = ({ req }: { req: IncomingMessage }) => {
      const fault = findSignatureFault(req, Buffer.alloc(0), EXPECTED);
      faults.push(fault);
      return fault === undefined;
    };
    sockets = new WebSocketServer({ server, verifyClient });
    const tick = async function* () {
      yield await Promise.resolve({ tick: 1 });
    };
    useServer({ schema: buildSchema('type Query { a: Int } type Subscription { tick: Int }'), roots: { subscription: { tick } } }, sockets);
  });
  afterEach(async () => {
    for (const pool of Object.values(pools)) pool?.close();
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Resolves with the first event, or with how the subscription has ended. */
  const subscribe = (protocol: SubscriptionProtocol, read: () => Promise<Credentials>) =>
    new Promise<unknown>((resolve) => {
      const signer = createRequestSigner(SIGNING, read);
      pools[protocol]?.open({ name: protocol, url, tls: () => undefined, signer }).subscribe(
        { identity: ['authorization', 'Bearer b'], requestId: 'r', payload: PAYLOAD },
        {
          next: resolve,
          refused: resolve,
          complete: () => {
            resolve('complete');
          },
          lost: ({ cause }) => {
            resolve(cause.message);
          },
        },
      );
    });

  it.each(['ws', 'sse', 'callback'] as const)('begins with a request whose signature the subgraph verifies, by %s', async (protocol) => {
    const read = () => Promise.resolve({ accessKeyId: 'id', secretAccessKey: 's', sessionToken: 't' });
    expect(await subscribe(protocol, read)).toMatchObject({ data: { tick: 1 } });
    expect(faults).toEqual([undefined]);
  });

  it.each(['ws', 'sse', 'callback'] as const)('is lost when there are no credentials, by %s', async (protocol) => {
    const read = () => Promise.reject(new CredentialsError('no keys'));
    expect(await subscribe(protocol, read)).toContain('no keys');
    expect(faults).toEqual([]);
  });
});
