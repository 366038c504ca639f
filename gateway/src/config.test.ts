import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from './config.ts';
import { shareLimits } from './share-limits.ts';
import { trafficOf } from './upstream/traffic/traffic-settings.ts';

const ARGS = ['--auth', 'off', '--supergraph', 'supergraph.graphql'];

describe('readConfig', () => {
  const forward = (names: string) => readConfig(ARGS, { FORWARD_HEADERS: names });

  it('reads the names of forwarded headers, which have no case', async () => {
    expect((await forward('X-Tenant, x-feature')).forwardHeaders).toEqual(['x-tenant', 'x-feature']);
  });

  it.each([
    ['X-A,Host', 'must not name `Host`, which belongs to one message or connection'],
    ['Connection', 'must not name `Connection`, which belongs'],
    ['Transfer-Encoding', 'must not name `Transfer-Encoding`, which belongs'],
    ['Content-Length', 'must not name `Content-Length`, which belongs'],
    ['Authorization', 'must not name `Authorization`, which reaches subgraphs by itself; it can only be removed'],
    ['X-API-Key', 'must not name `X-API-Key`, which never reaches subgraphs'],
    ['x tenant:', 'must be the name of a header: 1 to 128 letters, digits and hyphens'],
  ])('refuses to forward %s (RFC 9110 §7.6.1)', async (name, message) => {
    await expect(forward(name)).rejects.toThrow(`FORWARD_HEADERS: ${message}`);
  });
});

describe('readConfig without settings', () => {
  it('has a stopping process wait for at most 2.5 s, so that it ends within 3 s', async () => {
    const { SUBSCRIPTION_DRAIN_MS: streams, REQUEST_DRAIN_MS: requests } = await readConfig(ARGS, {});
    expect(streams + requests).toBeLessThanOrEqual(2500);
  });
});

describe('readConfig with a configuration file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trestle-config-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const read = async (text: string, { args = ARGS, env = {} }: { args?: string[]; env?: Record<string, string> } = {}) => {
    const file = join(folder, 'trestle.yaml');
    await writeFile(file, text);
    return readConfig(['--config', file, ...args], env);
  };

  it('prefers the command line to the environment, that to the file, and the file to the default', async () => {
    const text = 'limits: { maxDepth: 5, maxAliases: 6, maxTokens: 7000 }\nserver: { port: 4010 }';
    const config = await read(text, { args: [...ARGS, '--set', 'limits.maxDepth=3'], env: { MAX_DEPTH: '4', MAX_ALIASES: '4' } });
    expect(config.limits).toMatchObject({ maxDepth: 3, maxAliases: 4, maxTokens: 7000, maxRootFields: 50 });
    expect(config.port).toBe(4010);
    expect((await read(text, { args: [...ARGS, '--port', '0'] })).port).toBe(0);
    expect((await read(text, { env: { GATEWAY_PORT: '4011' } })).port).toBe(4011);
  });

  it('refuses rules with claims while credentials are not checked, and takes them when they are', async () => {
    const text = 'headers:\n  request: [{ insert: X-User, claim: sub }]';
    await expect(read(text)).rejects.toThrow('AUTH: must be on for rules with `claim`');
    const ofOne = 'subgraphs: { users: { headers: { request: [{ insert: X-User, claim: sub }] } } }';
    await expect(read(ofOne)).rejects.toThrow('AUTH: must be on for rules with `claim`');
    const args = ['--supergraph', 'supergraph.graphql', '--set', 'authentication.jwksUrl=http://127.0.0.1:1/jwks'];
    expect((await read(text, { args: ['--auth', 'on', ...args] })).headerRules.request.all).toHaveLength(1);
  });

  it('treats an empty environment variable as unset', async () => {
    expect((await read('limits: { maxDepth: 5 }', { env: { MAX_DEPTH: '' } })).limits.maxDepth).toBe(5);
  });

  it('reads settings of subgraphs, which the environment overrides', async () => {
    const text =
      'subgraphs:\n  Orders: { url: "http://o/graphql", errors: codes }\n  users: { url: "http://u/graphql", subscriptionProtocol: sse }';
    const config = await read(text, { env: { SUBGRAPH_URL_USERS: 'http://env/graphql' } });
    expect([...config.subgraphUrls].sort()).toEqual([
      ['orders', 'http://o/graphql'],
      ['users', 'http://env/graphql'],
    ]);
    expect([...config.subgraphErrorsByName]).toEqual([['orders', 'codes']]);
    expect([...config.subscriptionProtocols]).toEqual([['users', 'sse']]);
    const wrong = read(text, { env: { SUBGRAPH_SUBSCRIPTION_PROTOCOL_ORDERS: 'SSE' } });
    await expect(wrong).rejects.toThrow('SUBGRAPH_SUBSCRIPTION_PROTOCOL_ORDERS: must be one of ws, sse');
  });

  it('resolves paths from the folder of the file', async () => {
    expect((await read('supergraph: { file: ./s.graphql }', { args: ['--auth', 'off'] })).graphs[0]?.config.supergraph).toEqual({
      kind: 'file',
      file: join(folder, 's.graphql'),
    });
  });

  it('names the faults of the file and of the environment at once, each with its place', async () => {
    const text = 'server:\n  port: 99999\nlimits:\n  maxDept: 3\n';
    const faults = read(text, { args: ['--supergraph', 's.graphql'], env: { MAX_COST: 'much', COST_MODE: 'off' } });
    await expect(faults).rejects.toThrow(/trestle\.yaml:2:9: server\.port: must be an integer from 0 to 65535/);
    await expect(faults).rejects.toThrow(/trestle\.yaml:4:3: limits\.maxDept: is unknown; did you mean `maxDepth`\?/);
    await expect(faults).rejects.toThrow('MAX_COST: must be an integer');
    await expect(faults).rejects.toThrow('COST_MODE: must be one of enforce, measure');
  });

  it('refuses callbacks of subgraphs without an address for them, and with several workers', async () => {
    const text = 'subgraphs: { orders: { subscriptionProtocol: callback } }';
    const options = { args: ['--supergraph', 's.graphql', '--auth', 'off'] };
    await expect(read(text, options)).rejects.toThrow(/server\.callbackUrl: must be set \(SUBSCRIPTION_CALLBACK_URL\)/);
    const url = 'http://10.0.0.5:4100/callbacks';
    await expect(read(`server: { callbackUrl: "${url}", workers: 2 }\n${text}`, options)).rejects.toThrow(/callbackUrl.*several workers/);
    expect((await read(`server: { callbackUrl: "${url}" }\n${text}`, options)).SUBSCRIPTION_CALLBACK_URL).toBe(url);
  });

  it('refuses to need ids of trusted documents where other documents are executed', async () => {
    const options = { args: ['--supergraph', 's.graphql', '--auth', 'off'] };
    await expect(read('documents: { requireId: true }', options)).rejects.toThrow(/documents\.requireId.*needs documents\.trustedOnly/);
  });

  it('refuses to execute trusted documents only where no file of them is named', async () => {
    const refused = read('documents: { requireId: true, trustedOnly: true }', { args: ['--supergraph', 's.graphql', '--auth', 'off'] });
    await expect(refused).rejects.toThrow(/documents\.trustedOnly.* needs documents\.trustedFile\b/);
    await expect(refused).rejects.not.toThrow('documents.requireId');
  });

  it('divides the requests per second of subgraphs among workers', async () => {
    const text =
      'traffic: { requestsPerSecond: 5 }\nsubgraphs: { users: { traffic: { requestsPerSecond: 100 } }, orders: { traffic: { timeoutMs: 500 } } }';
    const config = await read(text, { args: ['--supergraph', 's.graphql', '--auth', 'off', '--workers', '2'] });
    const { traffic } = shareLimits(config);
    const perSecond = (name: string) => trafficOf(name, traffic).requestsPerSecond;
    expect([perSecond('users'), perSecond('orders'), trafficOf('orders', traffic).timeoutMs]).toEqual([50, 3, 500]);
    expect(trafficOf('users', shareLimits({ ...config, WORKERS: 1 }).traffic).requestsPerSecond).toBe(100);
  });

  it('refuses a response cache in memory with several workers, and takes one in Redis', async () => {
    const options = { args: ['--supergraph', 's.graphql', '--auth', 'off', '--workers', '2'] };
    await expect(read('responseCache: { store: memory }', options)).rejects.toThrow(/responseCache\.store.*must be redis or off/);
    const text = 'responseCache: { store: redis }\nrateLimits: { redisUrl: "redis://127.0.0.1:1" }';
    expect((await read(text, options)).responseCache.store).toBe('redis');
  });

  it.each([
    ['traffic.deduplicateOperations', 'traffic: { deduplicateOperations: true }', 'traffic: { deduplicateOperations: false }'],
    ['traffic.operationTimeoutMs', 'traffic: { operationTimeoutMs: 500 }', 'traffic: { operationTimeoutMs: 0 }'],
    ['supergraph.overrideLabels', 'supergraph: { overrideLabels: [percent] }', 'supergraph: { overrideLabels: [] }'],
    ['supergraph.overrideLabelsHeader', 'supergraph: { overrideLabelsHeader: x-labels }', 'supergraph: {}'],
    ['limits.maxDeferred', 'limits: { maxDeferred: 5 }', 'limits: { maxDeferred: 0 }'],
  ])('refuses %s with the engine apollo, which would ignore it, unless it has its default', async (name, text, usual) => {
    const options = { args: [...ARGS, '--engine', 'apollo'] };
    await expect(read(text, options)).rejects.toThrow(`${name}: needs the engine trestle`);
    expect((await read(usual, options)).GATEWAY_ENGINE).toBe('apollo');
    expect((await read(text)).GATEWAY_ENGINE).toBe('trestle');
  });

  describe('and a source of the supergraph', () => {
    const args = ['--auth', 'off'];
    const sourceOf = async (text: string, env: Record<string, string> = {}) =>
      (await read(text, { args, env })).graphs[0]?.config.supergraph;
    const faultsOf = (text: string, env: Record<string, string> = {}) =>
      read(text, { args, env }).then(
        () => '',
        (error: unknown) => (error as Error).message.replaceAll(`${folder}/`, ''),
      );
    const polling = { intervalMs: 10_000, timeoutMs: 10_000, maxBytes: 16_777_216, cacheFile: undefined };

    it('reads a URL with headers, whose variables come from the environment', async () => {
      const text = `supergraph:
  url: https://cdn.example.com/s
  pollIntervalMs: 500
  cacheFile: kept.graphql
  headers: { Authorization: "Bearer \${TOKEN}", X-Team: a }
`;
      expect(await sourceOf(text, { TOKEN: 't', SUPERGRAPH_HEADER_X_TEAM: 'b' })).toEqual({
        kind: 'url',
        url: 'https://cdn.example.com/s',
        headers: { authorization: 'Bearer t', 'x-team': 'b' },
        polling: { ...polling, intervalMs: 500, cacheFile: join(folder, 'kept.graphql') },
      });
    });

    it('reads the endpoints and keys of Hive and of Apollo Uplink', async () => {
      expect(await sourceOf('supergraph: { hive: { endpoints: ["https://cdn.example.com/t"], key: k } }')).toEqual({
        kind: 'hive',
        endpoints: ['https://cdn.example.com/t'],
        key: 'k',
        polling,
      });
      expect(await sourceOf('supergraph: { uplink: { graphRef: g@current } }', { APOLLO_KEY: 'k' })).toEqual({
        kind: 'uplink',
        endpoints: ['https://uplink.api.apollographql.com/', 'https://aws.uplink.api.apollographql.com/'],
        graphRef: 'g@current',
        key: 'k',
        polling,
      });
    });

    it('prefers a file on the command line, and otherwise the source that is named', async () => {
      const text = 'supergraph: { file: a.graphql, url: "https://h/s", source: url }';
      expect(await sourceOf(text)).toMatchObject({ kind: 'url' });
      expect((await read(text, { args: [...args, '--supergraph', 'b.graphql'] })).graphs[0]?.config.supergraph).toEqual({
        kind: 'file',
        file: 'b.graphql',
      });
    });

    it.each([
      [
        'two sources',
        'supergraph:\n  file: a.graphql\n  url: https://h/s\n',
        'trestle.yaml:3:3: supergraph.url: is one source too many beside file; choose one with supergraph.source',
      ],
      [
        'a source without its settings',
        'supergraph:\n  source: url\n',
        'trestle.yaml:2:3: supergraph.source: needs supergraph.url (SUPERGRAPH_URL) beside it',
      ],
      [
        'a CDN without a key',
        'supergraph:\n  hive:\n    endpoints: ["https://h/t"]\n',
        'trestle.yaml:3:5: supergraph.hive.endpoints: needs supergraph.hive.key (HIVE_CDN_KEY) beside it',
      ],
      [
        'a graph without a key',
        'supergraph:\n  uplink:\n    graphRef: g\n',
        'trestle.yaml:3:5: supergraph.uplink.graphRef: needs supergraph.uplink.key (APOLLO_KEY) beside it',
      ],
      ['an address of another protocol', 'supergraph:\n  url: ftp://h/s\n', 'trestle.yaml:2:8: supergraph.url: must be a URL that starts'],
      [
        'an endpoint that is no URL',
        'supergraph:\n  hive: { endpoints: [hunter2] }\n',
        'trestle.yaml:2:22: supergraph.hive.endpoints: must be URLs that start with http:// or https://',
      ],
      [
        'a header with a line break',
        'supergraph:\n  headers:\n    X-A: "hunter2\\r\\nX-B: c"\n',
        'trestle.yaml:3:10: supergraph.headers.X-A: must have 1 to 8192 visible ASCII characters',
      ],
      [
        'a header that must not be sent',
        'supergraph:\n  headers:\n    Transfer-Encoding: hunter2\n',
        'trestle.yaml:3:5: supergraph.headers.Transfer-Encoding: must be the name of a header that may be sent',
      ],
      [
        'a key with a line break',
        'supergraph:\n  hive: { key: "hunter2\\n" }\n',
        'trestle.yaml:2:16: supergraph.hive.key: must have 1 to 8192 visible ASCII characters',
      ],
    ])('reports %s', async (_, text, fault) => {
      const faults = await faultsOf(text);
      expect(faults).toContain(fault);
      expect(faults).not.toContain('hunter2');
    });

    it('reports what the environment lacks under its names', async () => {
      expect(await faultsOf('{}', { HIVE_CDN_ENDPOINT: 'https://h/t' })).toContain(
        'HIVE_CDN_ENDPOINT: needs supergraph.hive.key (HIVE_CDN_KEY)',
      );
      const env = { SUPERGRAPH_URL: 'https://h/s', SUPERGRAPH_HEADER_HOST: 'hunter2', 'SUPERGRAPH_HEADER_X-A': 'hunter2\n' };
      const faults = await faultsOf('{}', env);
      expect(faults).toContain('SUPERGRAPH_HEADER_HOST: must end with the name of a header that may be sent');
      expect(faults).toContain('SUPERGRAPH_HEADER_X-A: must have 1 to 8192 visible ASCII characters');
      expect(faults).not.toContain('hunter2');
    });
  });
});
