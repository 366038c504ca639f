/** Canaries of launches: a share of clients gets another launch, until it is promoted, rolled back, or worse (issue 17 point 6). */
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { generateSigningKeys, parseSigningKey, signArtifact } from '@trestle/schema/artifact';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { startFederation, startGateway } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';
import { LINK, type TestRegistry, newEnvironment, publish, startRegistry } from '../registry/registry-client.ts';

const CLIENTS = 400;
const RELEASE = '{ number action message canary { percent launch { id } } launch { id } }';

interface Release {
  readonly number: number;
  readonly action: string;
  readonly message: string | null;
  readonly canary: { readonly percent: number; readonly launch: { readonly id: string } } | null;
  readonly launch: { readonly id: string };
}

let registry: TestRegistry;
let gatewayToken: string;
let subgraph: Server;
let failing: Server;
const listen = async (status: number, body: string) => {
  const server = createServer((incoming, response) => {
    incoming.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
const urlOf = (server: Server) => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
beforeAll(async () => {
  registry = await startRegistry();
  subgraph = await listen(200, '{"data":{"base":7}}');
  failing = await listen(500, '{}');
  const create = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }';
  const { data } = await registry.graphql<{ createToken: { secret: string } }>(create, {
    input: { name: 'gateway', scopes: ['READ', 'CANARY'] },
  });
  gatewayToken = data?.createToken.secret ?? '';
});
afterAll(async () => {
  subgraph.close();
  failing.close();
  await registry.stop();
});

const change = async (name: string, input: object): Promise<Release> => {
  const type = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Input`;
  const { data, errors } = await registry.graphql<{ release: Release }>(
    `mutation ($input: ${type}!) { release: ${name}(input: $input) ${RELEASE} }`,
    { input },
  );
  if (!data) throw new Error(errors.map(({ message, extensions }) => `${extensions.code} ${message}`).join('; '));
  return data.release;
};
const readCurrent = async (name: string): Promise<Release | undefined> => {
  const query = `query ($name: String!) { environment(name: $name) { release ${RELEASE} } }`;
  return (await registry.graphql<{ environment: { release: Release } | null }>(query, { name })).data?.environment?.release;
};
/** Publishes `base`, and returns the environment; in another one a launch for the canary. */
const prepare = async (canary: Readonly<Record<string, string>>) => {
  const [prod, staging] = [newEnvironment(), newEnvironment()];
  await publish(registry, prod, { base: `${LINK}\ntype Query { base: Int }` });
  const { release } = await publish(registry, staging, canary);
  return { prod, staging, current: (await readCurrent(prod))?.launch.id ?? '', launch: release?.launch.id ?? '' };
};
const ADDED = { base: `${LINK}\ntype Query { base: Int added: Int }` };

describe('launch promote with percent', () => {
  it('is refused for a share that is none, for the launch that is served, and where nothing is served', async () => {
    const { prod, staging, current, launch } = await prepare(ADDED);
    await expect(change('promote', { to: prod, launch, percent: 100 })).rejects.toThrow('VALIDATION_ERROR');
    await expect(change('promote', { to: prod, launch, percent: 0 })).rejects.toThrow('VALIDATION_ERROR');
    await expect(change('promote', { to: prod, launch: current, percent: 10 })).rejects.toThrow('CONFLICT');
    await expect(change('promote', { to: newEnvironment(), from: staging, percent: 10 })).rejects.toThrow('CONFLICT');
    await expect(change('promote', { to: prod, launch: 'f'.repeat(64), percent: 10 })).rejects.toThrow('NOT_FOUND');
    await expect(change('promote', { to: prod })).rejects.toThrow('NOT_FOUND');
    expect(await readCurrent(prod)).toMatchObject({ number: 1, canary: null });
  });

  it('keeps the launch, and is ended by a rollback, a promotion and a publish', async () => {
    const { prod, current, launch } = await prepare(ADDED);
    const begin = () => change('promote', { to: prod, launch, percent: 10 });
    expect(await begin()).toMatchObject({
      number: 2,
      action: 'CANARY',
      launch: { id: current },
      canary: { percent: 10, launch: { id: launch } },
    });
    await expect(begin()).rejects.toThrow('CONFLICT');
    expect(await change('promote', { to: prod, percent: 50 })).toMatchObject({
      number: 3,
      canary: { percent: 50, launch: { id: launch } },
    });
    expect(await change('rollback', { environment: prod })).toMatchObject({ number: 4, launch: { id: current }, canary: null });
    await begin();
    expect(await change('promote', { to: prod })).toMatchObject({ number: 6, action: 'PROMOTE', launch: { id: launch }, canary: null });
    expect(await change('rollback', { environment: prod })).toMatchObject({ number: 7, launch: { id: current }, canary: null });
    await begin();
    await publish(registry, prod, { base: `${LINK}\ntype Query { base: Int other: Int }` });
    expect(await readCurrent(prod)).toMatchObject({ number: 9, action: 'PUBLISH', canary: null });
  });

  it('is returned by a gateway once, only for the release that has it, and only with a token that may', async () => {
    const { prod, launch } = await prepare(ADDED);
    await change('promote', { to: prod, launch, percent: 10 });
    const input = { environment: prod, release: 2, reason: 'slow' };
    const mutation = 'mutation ($input: ReturnCanaryInput!) { returnCanary(input: $input) { number } }';
    const create = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }';
    const reader = await registry.graphql<{ createToken: { secret: string } }>(create, { input: { name: 'reader', scopes: ['READ'] } });
    const refused = await registry.graphql(mutation, { input }, reader.data?.createToken.secret);
    expect(refused.errors[0]?.extensions.code).toBe('FORBIDDEN');
    expect(await change('returnCanary', { ...input, release: 1 })).toMatchObject({ number: 2 });
    const both = await Promise.all([change('returnCanary', input), change('returnCanary', input)]);
    expect(both.map(({ number, action }) => [number, action])).toEqual([
      [3, 'RETURN'],
      [3, 'RETURN'],
    ]);
    expect(await readCurrent(prod)).toMatchObject({ number: 3, message: 'slow', canary: null });
  });
});

describe('a gateway during a canary', () => {
  const gateways: RunningProcess[] = [];
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.end('SIGKILL');
  });
  const start = async (environment: string, env: Readonly<Record<string, string>> = {}) => {
    const { url, publicKeyFile, home } = registry;
    const gateway = await startGateway(['--port', '0', '--auth', 'off'], {
      ...{ REGISTRY_URL: url, REGISTRY_ENVIRONMENT: environment, REGISTRY_TOKEN: gatewayToken },
      ...{
        REGISTRY_PUBLIC_KEY_FILE: publicKeyFile,
        SUPERGRAPH_CACHE_FILE: join(home, `${environment}-${String(gateways.length)}.graphql`),
      },
      ...{ SUBGRAPH_URL_BASE: urlOf(subgraph), SUBGRAPH_URL_FAILING: urlOf(failing), CANARY_HEADER: 'x-client-id' },
      ...env,
    });
    gateways.push(gateway);
    return gateway;
  };
  const ask = async (gateway: RunningProcess, client: number, query = '{ __type(name: "Query") { fields { name } } }') => {
    const headers = { 'x-client-id': `client-${String(client)}` };
    return JSON.stringify((await request(`${gateway.url}/graphql`, { method: 'POST', headers, body: { query } })).body);
  };
  const ready = async ({ url }: RunningProcess) => (await request(`${url}/readyz`, { method: 'GET' })).body as Record<string, unknown>;
  /** Returns the numbers of the clients that get the canary. */
  const listChosen = async (gateway: RunningProcess) => {
    const chosen: number[] = [];
    for (let client = 0; client < CLIENTS; client++) if ((await ask(gateway, client)).includes('added')) chosen.push(client);
    return chosen;
  };

  it('serves it to a tenth of clients, the same at every gateway and after a restart; to all once it is promoted', async () => {
    const { prod, current, launch } = await prepare(ADDED);
    const first = await start(prod);
    expect(await listChosen(first)).toEqual([]);
    await change('promote', { to: prod, launch, percent: 10 });
    await until(async () => 'canary' in (await ready(first)));
    expect(await ready(first)).toMatchObject({ launch: current, release: 2, canary: { launch, percent: 10 } });
    const chosen = await listChosen(first);
    expect(chosen.length).toBeGreaterThan(CLIENTS * 0.05);
    expect(chosen.length).toBeLessThan(CLIENTS * 0.16);
    expect(await listChosen(first)).toEqual(chosen);
    expect(await listChosen(await start(prod))).toEqual(chosen);
    await change('promote', { to: prod, launch });
    for (const gateway of gateways) await until(async () => (await ready(gateway))['launch'] === launch);
    expect(await listChosen(first)).toHaveLength(CLIENTS);
    expect(await ready(first)).not.toHaveProperty('canary');
  });

  it('ends it at every gateway when its requests fail, and no client of the other launch has an error', async () => {
    const { prod, current, launch } = await prepare({ failing: `${LINK}\ntype Query { base: Int }` });
    const [first, second] = [await start(prod, { CANARY_MIN_REQUESTS: '20' }), await start(prod)];
    await change('promote', { to: prod, launch, percent: 30 });
    for (const gateway of gateways) await until(async () => 'canary' in (await ready(gateway)));
    const failed = new Map<number, boolean>();
    for (let client = 0; 'canary' in (await ready(first)); client = (client + 1) % CLIENTS)
      failed.set(client, (failed.get(client) ?? false) || (await ask(first, client, '{ base }')).includes('errors'));
    const failures = [...failed.values()].filter(Boolean).length;
    expect(failures).toBeGreaterThanOrEqual(20);
    expect(failures).toBeLessThan(failed.size / 2);
    await until(async () => (await readCurrent(prod))?.action === 'RETURN');
    expect(await readCurrent(prod)).toMatchObject({
      launch: { id: current },
      canary: null,
      message: expect.stringContaining('requests failed'),
    });
    await until(async () => !('canary' in (await ready(second))));
    for (const gateway of gateways)
      for (let client = 0; client < 100; client++) expect(await ask(gateway, client, '{ base }')).toBe('{"data":{"base":7}}');
    expect(await readMetric(first.url, 'trestle_canary_returns_total')).toBe(1);
    expect(await readMetric(second.url, 'trestle_canary_returns_total')).toBe(0);
  });

  it('keeps subscriptions through its beginning, its promotion and its end', async () => {
    const harbours = createHarbours();
    const federation = await startFederation(harbours.sources);
    const privateKey = parseSigningKey(generateSigningKeys().privateKeyPem);
    const supergraphSdl = federation.supergraphSdl;
    const field = 'cargo: String @join__field(graph: CARGOES)';
    const changed = supergraphSdl.replace(field, `${field} @deprecated`);
    const [one, two] = ['a'.repeat(64), 'b'.repeat(64)];
    const serve = async (release: number, launch: string, percent?: number) => {
      const sdls: Record<string, string> = { [one]: supergraphSdl, [two]: changed };
      const canary = percent === undefined ? {} : { canary: { launch: two, percent, supergraphSdl: changed } };
      await federation.replaceSupergraph(
        signArtifact({ environment: 'prod', release, launch, supergraphSdl: sdls[launch] ?? '', ...canary }, privateKey),
      );
      await until(async () => {
        const served = await ready(federation.gateway);
        return served['release'] === release && 'canary' in served === (percent !== undefined);
      });
    };
    const client = await openSocket(federation.url);
    client.send({ id: '1', type: 'subscribe', payload: { query: ARRIVALS } });
    await until(() => Promise.resolve(harbours.arrivals.listeners === 1));
    const expectEvent = async (n: number) => {
      harbours.arrivals.publish({ id: `s${String(n)}`, name: 'Ship' });
      expect(await client.next()).toMatchObject({
        id: '1',
        payload: { data: { arrived: { id: `s${String(n)}`, cargo: `cargo of s${String(n)}` } } },
      });
    };
    await expectEvent(1);
    await serve(1, one, 99);
    await expectEvent(2);
    await serve(2, one);
    await expectEvent(3);
    await serve(3, one, 50);
    await serve(4, two);
    await expectEvent(4);
    expect(federation.received.filter(({ query }) => query.startsWith('subscription'))).toHaveLength(1);
    await client.close();
    await federation.stop();
  });
});
