/** Mutual TLS to subgraphs: real servers that demand a client certificate, and the gateway with one, without one, and with another. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { untilLogged } from '../../stack/clients/client.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { type Certificate, createCertificate } from '../../stack/clients/tls-client.ts';

const subgraphs = {
  ticker: {
    sdl: 'type Query { price: Int } type Subscription { prices: Int }',
    resolvers: {
      Query: { price: () => 1 },
      Subscription: {
        prices: {
          async *subscribe() {
            yield await Promise.resolve({ prices: 2 });
          },
        },
      },
    },
  },
};

let home: string;
let server: Certificate;
let client: Certificate;
let stranger: Certificate;
const start = async (presented: Certificate | undefined): Promise<Federation> => {
  const { TLS_CERT_FILE, TLS_KEY_FILE } = server.settings;
  return startFederation(subgraphs, {
    subgraphTls: {
      ...{ cert: server.cert, key: await readFile(TLS_KEY_FILE), ca: client.cert },
      ...{ requestCert: true, rejectUnauthorized: true },
    },
    env: {
      SUBGRAPH_CA_FILE: TLS_CERT_FILE,
      ...(presented && { SUBGRAPH_CERT_FILE: presented.settings.TLS_CERT_FILE, SUBGRAPH_KEY_FILE: presented.settings.TLS_KEY_FILE }),
    },
  });
};

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-mtls-'));
  const create = async (name: string) => createCertificate(await mkdtemp(join(home, name)));
  [server, client, stranger] = await Promise.all([create('server'), create('client'), create('stranger')]);
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe('subgraphs that demand a client certificate', () => {
  it('get that of the gateway with fetches and with the WebSockets of subscriptions', async () => {
    const federation = await start(client);
    const fingerprints: string[] = [];
    federation.intercept = (_, { socket }) => {
      if (socket instanceof TLSSocket) fingerprints.push(socket.getPeerCertificate().fingerprint256);
      return undefined;
    };
    try {
      expect((await federation.ask('{ price }')).body).toEqual({ data: { price: 1 } });
      expect(fingerprints).toEqual([expect.stringMatching(/^([0-9A-F]{2}:){31}/)]);
      const subscriber = subscribeTo(federation.gateway.url, { query: 'subscription { prices }' });
      expect(await subscriber.wait(1)).toEqual([{ data: { prices: 2 } }]);
      await subscriber.stop();
    } finally {
      await federation.stop();
    }
  });

  it.each([
    ['none', () => undefined],
    ['one that they do not trust', () => stranger],
  ])('refuse the gateway with %s: a client gets UPSTREAM_ERROR, and the reason is in the log only', async (_, present) => {
    const federation = await start(present());
    try {
      const { body } = await federation.ask('{ price }');
      expect(body).toMatchObject({ data: { price: null }, errors: [{ extensions: { code: 'UPSTREAM_ERROR', service: 'ticker' } }] });
      expect(JSON.stringify(body)).not.toMatch(/localhost|certificate|alert/i);
      expect(federation.received).toEqual([]);
      await untilLogged(federation.gateway, '"code":"UPSTREAM_ERROR","subgraph":"ticker"');
    } finally {
      await federation.stop();
    }
  });
});
