/** A gateway whose supergraph comes over the network: changed under load, while its source fails, and from disk when the source is down. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { createCertificate } from '../../stack/clients/tls-client.ts';

const COMMAND = fileURLToPath(new URL('../../../gateway/bin/trestle-gateway.mjs', import.meta.url));
const QUERY = '{ planet { name } }';
const TOKEN = 'hunter2-token';

let folder: string;
let federation: Federation;
/** The supergraph with one more field, by its name. */
const withField = (name: string) => federation.supergraphSdl.replace('near: Planet', `near: Planet\n  ${name}: Int`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-sources-'));
  federation = await startFederation({
    planets: {
      sdl: 'type Query { planet: Planet } type Planet @key(fields: "name") { name: ID! near: Planet }',
      resolvers: { Query: { planet: () => ({ name: 'Mars' }) } },
    },
  });
});
afterAll(async () => {
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});

const gateways: RunningProcess[] = [];
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.end('SIGKILL');
});
const start = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const gateway = await startGateway(['--port', '0', '--auth', 'off', ...args], env);
  gateways.push(gateway);
  return gateway;
};
const ask = (gateway: RunningProcess, query = QUERY) => request(`${gateway.url}/graphql`, { method: 'POST', body: { query } });
const serves = async (gateway: RunningProcess, field: string) => (await ask(gateway, `{ planet { ${field} } }`)).status === 200;
const readsOf = (gateway: RunningProcess, result: string) => readMetric(gateway.url, `trestle_supergraph_reads_total{result="${result}"}`);
const isCurrent = (gateway: RunningProcess) => readMetric(gateway.url, 'trestle_supergraph_current');

type Respond = (incoming: IncomingMessage, response: ServerResponse) => void;

interface Source {
  readonly url: string;
  /** Closes every connection, now and later. The port stays taken, so that no other process can answer there. */
  isDown: boolean;
  stop(): Promise<void>;
}

async function startSource(respond: Respond): Promise<Source> {
  const server = createServer((incoming, response) => {
    if (source.isDown) response.destroy();
    else respond(incoming, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const source: Source = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    isDown: false,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return source;
}

/** Serves a supergraph with an ETag to clients that send the token. */
const serveFile =
  (read: () => string): Respond =>
  ({ headers }, response) => {
    const etag = `"${createHash('sha256').update(read()).digest('hex')}"`;
    if (headers.authorization !== `Bearer ${TOKEN}`) response.writeHead(401).end();
    else if (headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag }).end(read());
  };

describe('a supergraph at a URL', () => {
  let sdl: string;
  let source: Source;
  const config = () => join(folder, 'url.yaml');
  const kept = () => join(folder, 'kept.graphql');
  const startFromUrl = () => start(['--config', config()], { CDN_TOKEN: TOKEN });
  beforeEach(() => {
    sdl = federation.supergraphSdl;
    source.isDown = false;
  });
  beforeAll(async () => {
    sdl = federation.supergraphSdl;
    source = await startSource(serveFile(() => sdl));
    const headers = '{ Authorization: "Bearer ${CDN_TOKEN}" }';
    const text = `supergraph: { url: "${source.url}/s?key=${TOKEN}", headers: ${headers}, pollIntervalMs: 100, cacheFile: kept.graphql }\n`;
    await writeFile(config(), text);
  });
  afterAll(() => source.stop());

  it('is replaced under load without a failed request, stays while the source fails, and is served from disk after a restart', async () => {
    const gateway = await startFromUrl();
    const statuses = new Set<number>();
    let isOver = false;
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) statuses.add((await ask(gateway)).status);
      }),
    );
    sdl = withField('moons');
    await until(() => serves(gateway, 'moons'));
    sdl = 'type Query { broken: ';
    await until(async () => (await readsOf(gateway, 'refused')) === 1);
    expect(await isCurrent(gateway)).toBe(0);
    sdl = withField('rings');
    await until(async () => (await isCurrent(gateway)) === 1);
    expect(await serves(gateway, 'rings')).toBe(true);
    source.isDown = true;
    await until(async () => (await readsOf(gateway, 'failed')) > 0);
    expect([await serves(gateway, 'rings'), await isCurrent(gateway)]).toEqual([true, 0]);
    isOver = true;
    await load;
    expect([...statuses]).toEqual([200]);
    await gateway.end('SIGKILL');

    const restarted = await startFromUrl();
    source.isDown = false;
    expect([await serves(restarted, 'rings'), await serves(restarted, 'moons')]).toEqual([true, false]);
    sdl = withField('moons');
    await until(async () => (await serves(restarted, 'moons')) && (await isCurrent(restarted)) === 1);
    const lines = [...gateway.lines, ...restarted.lines].join('\n');
    for (const message of ['refused a new supergraph', 'cannot be read from its source', 'kept on disk']) expect(lines).toContain(message);
    expect(lines).not.toContain(TOKEN);
  });

  it('is not served from a damaged copy, and the start says why', async () => {
    const gateway = await startFromUrl();
    await gateway.end('SIGTERM');
    source.isDown = true;
    await (await startFromUrl()).end('SIGKILL');
    await writeFile(kept(), (await readFile(kept(), 'utf8')).replace('near: Planet', 'near: Int'));
    const failed = startFromUrl();
    await expect(failed).rejects.toThrow(/failed \(\w+\); and there is no copy on disk to serve: .*kept\.graphql is damaged/);
    await expect(failed).rejects.not.toThrow(TOKEN);
  });

  it('that is invalid at the start is replaced by the copy on disk', async () => {
    sdl = withField('rings');
    await (await startFromUrl()).end('SIGTERM');
    sdl = 'type Query { a: Int }';
    const gateway = await startFromUrl();
    expect([await serves(gateway, 'rings'), await readsOf(gateway, 'refused'), await isCurrent(gateway)]).toEqual([true, 1, 0]);
  });

  it('is validated by check, which uses no copy on disk', async () => {
    const check = () =>
      new Promise<{ code: number; output: string }>((resolve) => {
        const env = { PATH: process.env['PATH'], CDN_TOKEN: TOKEN };
        execFile(process.execPath, [COMMAND, 'check', '--config', config(), '--auth', 'off'], { env }, (error, stdout, stderr) => {
          resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr });
        });
      });
    const good = await check();
    expect(good).toEqual({ code: 0, output: expect.stringContaining(`${source.url}/s is valid: 1 subgraphs (planets).`) });
    sdl = 'type Query {';
    const bad = await check();
    expect(bad).toEqual({ code: 2, output: expect.stringContaining(`${source.url}/s: 1:13: Syntax Error`) });
    source.isDown = true;
    const down = await check();
    expect(down).toEqual({ code: 2, output: expect.stringContaining(`${source.url}/s: failed (`) });
    expect([good, bad, down].map(({ output }) => output).join()).not.toContain(TOKEN);
  });
});

describe('a supergraph at an https URL', () => {
  it('is trusted by NODE_EXTRA_CA_CERTS only, and not read by a redirect to http', async () => {
    const { settings } = await createCertificate(folder);
    const [cert, key] = await Promise.all([readFile(settings.TLS_CERT_FILE), readFile(settings.TLS_KEY_FILE)]);
    const plain = await startSource((_, response) => response.end(federation.supergraphSdl));
    const secure = createSecureServer({ cert, key }, ({ url }, response) => {
      if (url === '/moved') response.writeHead(302, { location: plain.url }).end();
      else response.end(federation.supergraphSdl);
    });
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const url = `https://localhost:${String((secure.address() as AddressInfo).port)}`;
    const env = { NODE_EXTRA_CA_CERTS: settings.TLS_CERT_FILE, NODE_OPTIONS: '--dns-result-order=ipv4first' };
    try {
      const gateway = await start([], { ...env, SUPERGRAPH_URL: `${url}/s` });
      expect((await ask(gateway)).body).toEqual({ data: { planet: { name: 'Mars' } } });
      await expect(start([], { SUPERGRAPH_URL: `${url}/s` })).rejects.toThrow('failed (DEPTH_ZERO_SELF_SIGNED_CERT)');
      await expect(start([], { ...env, SUPERGRAPH_URL: `${url}/moved` })).rejects.toThrow('redirected to http:, which is not secure');
    } finally {
      secure.closeAllConnections();
      await Promise.all([plain.stop(), new Promise((resolve) => secure.close(resolve))]);
    }
  });
});

describe('a supergraph in a registry', () => {
  it('is served from the CDN of Hive, or its mirror, and replaced when it changes', async () => {
    let sdl = federation.supergraphSdl;
    const mirror = await startSource(({ headers, url }, response) => {
      if (headers['x-hive-cdn-key'] !== TOKEN || url !== '/artifacts/v1/target/supergraph') response.writeHead(403).end();
      else response.end(sdl);
    });
    const cdn = await startSource((_, response) => response.writeHead(503).end());
    const endpoints = [cdn, mirror].map(({ url }) => `${url}/artifacts/v1/target`).join();
    const gateway = await start([], { HIVE_CDN_ENDPOINT: endpoints, HIVE_CDN_KEY: TOKEN, SUPERGRAPH_POLL_INTERVAL_MS: '100' });
    expect((await ask(gateway)).body).toEqual({ data: { planet: { name: 'Mars' } } });
    sdl = withField('moons');
    await until(() => serves(gateway, 'moons'));
    expect(gateway.lines.join()).not.toContain(TOKEN);
    await Promise.all([cdn.stop(), mirror.stop()]);
  });

  it('is served from Apollo Uplink, and replaced when there is a newer one', async () => {
    let config = { id: '1', supergraphSdl: federation.supergraphSdl };
    const uplink = await startSource((incoming, response) => {
      void text(incoming).then((body) => {
        const { ref, apiKey, ifAfterId } = (JSON.parse(body) as { variables: Record<string, string> }).variables;
        const isKnown = ref === 'graph@current' && apiKey === TOKEN;
        const __typename = !isKnown ? 'FetchError' : ifAfterId === config.id ? 'Unchanged' : 'RouterConfigResult';
        const routerConfig = { __typename, code: 'ACCESS_DENIED', ...config, minDelaySeconds: 0.1 };
        response.end(JSON.stringify({ data: { routerConfig } }));
      });
    });
    const env = { APOLLO_UPLINK_ENDPOINTS: uplink.url, APOLLO_GRAPH_REF: 'graph@current', SUPERGRAPH_POLL_INTERVAL_MS: '100' };
    const gateway = await start([], { ...env, APOLLO_KEY: TOKEN });
    expect((await ask(gateway)).body).toEqual({ data: { planet: { name: 'Mars' } } });
    config = { id: '2', supergraphSdl: withField('moons') };
    await until(() => serves(gateway, 'moons'));
    expect(gateway.lines.join()).not.toContain(TOKEN);
    await expect(start([], { ...env, APOLLO_KEY: 'hunter3' })).rejects.toThrow('responded with the error ACCESS_DENIED');
    await uplink.stop();
  });
});
