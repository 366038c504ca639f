/** Tests against a real HTTP server that answers as the users subgraph does, or fails as it may. */
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { fail } from '@trestle/schema/errors';
import { Registry } from 'prom-client';
import { type ExchangeLimits, type KeySender, createApiKeyExchange } from './api-key-exchange.ts';
import { createApiKey } from './api-keys.ts';
import { createRevocations } from '../revocations/revocations.ts';
import { createTestGrant } from '../tokens/test-identity.ts';
import { createTokenVerifier } from '../verification/token-verifier.ts';
import { createTokenIssuer, generateTokenKeys } from '../tokens/tokens.ts';

const keys = generateTokenKeys();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Respond = (form: URLSearchParams, response: ServerResponse) => void;

const SENDER: KeySender = { headers: [], reserve: () => () => undefined };

/** Starts a server. `requests` are the keys that were sent, `clients` the clients that were named; `respond` may be replaced. */
async function start(limits?: ExchangeLimits) {
  const requests: string[] = [];
  const clients: unknown[] = [];
  const clock = { now: Date.now() };
  const issuer = createTokenIssuer({ privateKeyPem: keys.privateKeyPem, now: () => clock.now });
  const issue: Respond = (form, response) => {
    const { token, expiresInSeconds } = issuer.issue(createTestGrant({ id: 'usr_1', sessionId: 'key_1' }));
    reply(response, 200, { access_token: token, expires_in: expiresInSeconds, allowed_in_url: form.get('subject_token') === urlKey });
  };
  const urlKey = createApiKey();
  const server = { respond: issue, issue, requests, clients, urlKey, clock };
  const http = createServer((request, response) => {
    clients.push(request.headers['trestle-client']);
    void readForm(request).then((form) => {
      requests.push(form.get('subject_token') ?? '');
      server.respond(form, response);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const revocations = createRevocations({ now: () => clock.now });
  const verifier = createTokenVerifier({ publicKeyPem: keys.publicKeyPem, revocations, now: () => clock.now });
  const url = `http://127.0.0.1:${String((http.address() as AddressInfo).port)}/api-keys/exchange`;
  const metrics = new Registry();
  const opened = createApiKeyExchange({ url, verifier, metrics, now: () => clock.now, ...(limits && { limits }) });
  const exchange = {
    tokenFor: (credential: { value: string; isInUrl: boolean }, sender: KeySender = SENDER) => opened.tokenFor(credential, sender),
  };
  const stop = async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  closing.push(() => opened.close(), stop);
  /** Opens one with the clock that it has by default. */
  const open = () => {
    const another = createApiKeyExchange({ url, verifier, metrics: new Registry() });
    closing.unshift(() => another.close());
    return another;
  };
  return { server, exchange, open, revocations, verifier, metrics, stop };
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  return new URLSearchParams(text);
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const refuse: Respond = (_, response) => {
  reply(response, 400, { error: 'invalid_request' });
};
const inHeader = (value: string) => ({ value, isInUrl: false });
const codeOf = (fault: unknown) => (fault as { code: string }).code;

describe('an exchange of API keys', () => {
  it('returns a token, and then the same one at once, until a minute has passed', async () => {
    const { server, exchange, verifier } = await start();
    const key = createApiKey();
    const first = exchange.tokenFor(inHeader(key));
    expect(first).toBeInstanceOf(Promise);
    const token = await first;
    expect(verifier.verify(token)).toMatchObject({ userId: 'usr_1', sessionId: 'key_1' });
    server.clock.now += 59_000;
    expect(exchange.tokenFor(inHeader(key))).toBe(token);
    expect(server.requests).toEqual([key]);
    server.clock.now += 2000;
    expect(await exchange.tokenFor(inHeader(key))).not.toBe(token);
    expect(server.requests).toEqual([key, key]);
  });

  it('returns another token after a minute, also when the clock of the machine goes back meanwhile', async () => {
    const { server, open } = await start();
    const exchange = open();
    const key = createApiKey();
    await exchange.tokenFor(inHeader(key), SENDER);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
    await exchange.tokenFor(inHeader(key), SENDER);
    jest.restoreAllMocks();
    expect(server.requests).toEqual([key, key]);
  });

  it('sends one request for many that arrive together with one key', async () => {
    const { server, exchange } = await start();
    const key = createApiKey();
    const tokens = await Promise.all(Array.from({ length: 200 }, () => Promise.resolve(exchange.tokenFor(inHeader(key)))));
    expect(new Set(tokens).size).toBe(1);
    expect(server.requests).toEqual([key]);
  });

  it('sends no request for a key with a wrong checksum', async () => {
    const { server, exchange } = await start();
    for (const value of ['', 'x', `${createApiKey()}0`, createApiKey().slice(0, -1), 'x'.repeat(1_000_000), createApiKey().toLowerCase()])
      expect(() => exchange.tokenFor(inHeader(value))).toThrow(
        expect.objectContaining({ code: 'UNAUTHORIZED', isInvalidCredential: true }),
      );
    expect(server.requests).toEqual([]);
  });

  it('refuses a key that was refused for 10 s without another request', async () => {
    const { server, exchange } = await start();
    server.respond = refuse;
    const key = createApiKey();
    await expect(exchange.tokenFor(inHeader(key))).rejects.toMatchObject({ code: 'UNAUTHORIZED', isInvalidCredential: true });
    expect(() => exchange.tokenFor(inHeader(key))).toThrow('invalid, expired or revoked');
    expect(server.requests).toHaveLength(1);
    server.clock.now += 10_001;
    await expect(exchange.tokenFor(inHeader(key))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(server.requests).toHaveLength(2);
  });

  it('names the client that sent the key to the users subgraph', async () => {
    const { server, exchange } = await start();
    await exchange.tokenFor(inHeader(createApiKey()), { ...SENDER, headers: ['trestle-client', 'signed'] });
    expect(server.clients).toEqual(['signed']);
  });

  it('sends no request for a key that it does not know when the client has had too many checked, and gives back what it takes for others than invalid ones', async () => {
    const { server, exchange } = await start();
    let left = 2;
    const release = () => {
      left++;
    };
    const reserve = () => {
      if (left === 0) throw fail('RATE_LIMIT_EXCEEDED', 'None is left.');
      left--;
      return release;
    };
    const ask = (key: string) => Promise.resolve().then(() => exchange.tokenFor(inHeader(key), { headers: [], reserve }));
    const known = createApiKey();
    await ask(known);
    server.respond = refuse;
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => ask(createApiKey())));
    const codes = outcomes.map((each) => (each.status === 'rejected' ? codeOf(each.reason) : 'issued')).sort();
    expect(codes).toEqual([...Array<string>(48).fill('RATE_LIMIT_EXCEEDED'), ...Array<string>(2).fill('UNAUTHORIZED')]);
    expect([server.requests.length, left]).toEqual([3, 0]);
    left = 1;
    server.respond = (_, response) => {
      response.writeHead(500).end('{}');
    };
    await expect(ask(createApiKey())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(left).toBe(1);
    // A known key is checked again in any case: others may use the same address.
    left = 0;
    server.respond = server.issue;
    server.clock.now += 61_000;
    expect(typeof (await ask(known))).toBe('string');
  });

  it('exchanges a key again when its token was revoked', async () => {
    const { server, exchange, revocations } = await start();
    const key = createApiKey();
    const token = await exchange.tokenFor(inHeader(key));
    revocations.add({ userId: 'usr_1', sessionId: 'key_1' });
    server.respond = refuse;
    await expect(exchange.tokenFor(inHeader(key))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(server.requests).toHaveLength(2);
    expect(token).not.toBe('');
  });

  it('accepts a key in a URL only when the key allows it', async () => {
    const { server, exchange } = await start();
    const key = createApiKey();
    await expect(exchange.tokenFor({ value: key, isInUrl: true })).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
      isInvalidCredential: true,
    });
    expect(() => exchange.tokenFor({ value: key, isInUrl: true })).toThrow('not allowed in a URL');
    expect(typeof (await exchange.tokenFor(inHeader(key)))).toBe('string');
    expect(typeof (await exchange.tokenFor({ value: server.urlKey, isInUrl: true }))).toBe('string');
  });

  it.each<[string, Respond]>([
    [
      'answers 503',
      (_, response) => {
        reply(response, 503, { error: 'temporarily_unavailable' });
      },
    ],
    ['answers 500 without JSON', (_, response) => void response.writeHead(500).end('oops')],
    [
      'answers 200 without a token',
      (_, response) => {
        reply(response, 200, { access_token: 1 });
      },
    ],
    [
      'answers 200 with null',
      (_, response) => {
        reply(response, 200, null);
      },
    ],
    [
      'answers 400 with another error',
      (_, response) => {
        reply(response, 400, { error: 'invalid_client' });
      },
    ],
    ['answers more than 64 KiB', (_, response) => void response.writeHead(200).end(`"${'x'.repeat(100_000)}"`)],
    ['breaks off', (_, response) => void response.destroy()],
  ])('is unavailable with Retry-After, never unauthorized, when the users subgraph %s', async (_, respond) => {
    const { server, exchange, metrics } = await start();
    server.respond = respond;
    await expect(exchange.tokenFor(inHeader(createApiKey()))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 });
    expect(await metrics.getSingleMetricAsString('trestle_api_key_exchanges_total')).toContain('{outcome="unavailable"} 1');
  });

  it('goes on with a token that it has while the users subgraph cannot be reached, until the token ends', async () => {
    const { server, exchange, stop } = await start();
    const key = createApiKey();
    const token = await exchange.tokenFor(inHeader(key));
    await stop();
    server.clock.now += 14 * 60_000;
    expect(await exchange.tokenFor(inHeader(key))).toBe(token);
    // Without another attempt for a second.
    expect(exchange.tokenFor(inHeader(key))).toBe(token);
    server.clock.now += 60_000;
    expect(codeOf(await Promise.resolve(exchange.tokenFor(inHeader(key))).catch((fault: unknown) => fault))).toBe('SERVICE_UNAVAILABLE');
  });

  it('refuses further keys while too many are being exchanged', async () => {
    const { server, exchange } = await start({ maxKeys: 10, maxInFlight: 3 });
    const held: (() => void)[] = [];
    server.respond = (form, response) =>
      held.push(() => {
        server.issue(form, response);
      });
    const all = Array.from({ length: 3 }, () => Promise.resolve(exchange.tokenFor(inHeader(createApiKey()))));
    await expect(exchange.tokenFor(inHeader(createApiKey()))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    while (held.length < 3) await new Promise((resolve) => setImmediate(resolve));
    for (const respond of held) respond();
    expect(await Promise.all(all)).toHaveLength(3);
    expect(server.requests).toHaveLength(3);
  });

  it('forgets the oldest keys when it knows too many', async () => {
    const { server, exchange } = await start({ maxKeys: 3, maxInFlight: 10 });
    const all = Array.from({ length: 4 }, createApiKey);
    for (const key of all) await exchange.tokenFor(inHeader(key));
    for (const key of all.slice(1)) expect(typeof exchange.tokenFor(inHeader(key))).toBe('string');
    await exchange.tokenFor(inHeader(all[0] ?? ''));
    expect(server.requests).toEqual([...all, all[0]]);
  });
});
