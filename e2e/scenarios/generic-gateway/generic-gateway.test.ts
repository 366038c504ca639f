/** `trestle-gateway` on a supergraph that has nothing to do with users or orders: start, swap, bad supergraphs, the way down. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { toRunningProcess } from '../../stack/processes/process.ts';

const subgraphs = {
  harbours: {
    sdl: 'type Query { harbours: [Harbour!]! } type Harbour @key(fields: "code") { code: ID! name: String! }',
    resolvers: {
      Query: {
        harbours: () => [
          { code: 'HAM', name: 'Hamburg' },
          { code: 'RTM', name: 'Rotterdam' },
        ],
      },
    },
  },
  tides: {
    sdl: 'type Harbour @key(fields: "code") { code: ID! tide: Float }',
    resolvers: {
      Harbour: { __resolveReference: (key: object) => key, tide: ({ code }: { code: string }) => (code === 'HAM' ? 1.5 : null) },
    },
  },
};
const QUERY = '{ harbours { name tide } }';
const DATA = {
  harbours: [
    { name: 'Hamburg', tide: 1.5 },
    { name: 'Rotterdam', tide: null },
  ],
};

let federation: Federation;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-generic-'));
  federation = await startFederation(subgraphs);
});
afterAll(async () => {
  await federation.stop();
  await rm(home, { recursive: true, force: true });
});

const readyz = async () =>
  (await request(`${federation.gateway.url}/readyz`, { method: 'GET' })).body as { status: string; supergraph: string };

describe('a supergraph', () => {
  it('is served with a file and a port as the only settings', async () => {
    expect((await federation.ask(QUERY)).body).toEqual({ data: DATA });
    expect((await request(`${federation.gateway.url}/livez`, { method: 'GET' })).status).toBe(200);
    expect(await readyz()).toEqual({ status: 'ready', supergraph: expect.stringMatching(/^[0-9a-f]{16}$/) });
  });

  it('receives the credential of the client in its subgraphs when authentication is off', async () => {
    await federation.ask(QUERY, {}, { authorization: 'Basic YTpi' });
    expect(federation.received.at(-1)?.headers.authorization).toBe('Basic YTpi');
  });

  it('is replaced under load without a failed request; an invalid one is rejected while the old one is served', async () => {
    const { supergraph: before } = await readyz();
    const statuses = new Set<number>();
    let isOver = false;
    const load = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const { status, body } = await federation.ask(QUERY);
          statuses.add(status);
          if (JSON.stringify(body.data) !== JSON.stringify(DATA)) throw new Error(JSON.stringify(body));
        }
      }),
    );
    await federation.replaceSupergraph('type Query { broken: ');
    await federation.replaceSupergraph(federation.supergraphSdl.replace('tide: Float', 'tide: Float @deprecated'));
    await until(async () => (await readyz()).supergraph !== before);
    isOver = true;
    await load;
    expect([...statuses]).toEqual([200]);
    const { body } = await federation.ask('{ __type(name: "Harbour") { fields(includeDeprecated: true) { name isDeprecated } } }');
    expect(body.data).toEqual({
      __type: {
        fields: [
          { name: 'code', isDeprecated: false },
          { name: 'name', isDeprecated: false },
          { name: 'tide', isDeprecated: true },
        ],
      },
    });
  });

  it.each([
    ['is not there', undefined, 'ENOENT'],
    ['is no GraphQL', 'type Query {', 'Syntax Error'],
    ['is no supergraph', 'type Query { a: Int }', 'not a supergraph'],
  ])('that %s ends the command with a reason', async (_, sdl, reason) => {
    const file = join(home, `${reason.replace(' ', '')}.graphql`);
    if (sdl !== undefined) await writeFile(file, sdl);
    await expect(startGateway(['--supergraph', file, '--port', '0', '--auth', 'off'])).rejects.toThrow(reason);
  });

  it.each([
    ['authenticated', 'v9.1'],
    ['requiresScopes', 'v9.1'],
    ['policy', 'v9.1'],
    ['context', 'v9.1'],
    ['connect', 'v0.1'],
  ])('is rejected when it uses @%s %s, which the gateway does not enforce', async (feature, version) => {
    const file = join(home, `${feature}.graphql`);
    const link = `@link(url: "https://specs.apollo.dev/${feature}/${version}", for: SECURITY)`;
    await writeFile(file, federation.supergraphSdl.replace(/(schema\n)/, `$1  ${link}\n`));
    await expect(startGateway(['--supergraph', file, '--port', '0', '--auth', 'off'])).rejects.toThrow(feature);
  });
});

it('returns the results of the engine trestle with the engine apollo', async () => {
  const stock = await startFederation(subgraphs, { args: ['--engine', 'apollo'] });
  try {
    expect((await stock.ask(QUERY)).body).toEqual({ data: DATA });
    const wrong = await stock.ask('{ nope }');
    expect([wrong.status, wrong.body.errors?.[0]?.extensions]).toEqual([
      400,
      { code: 'VALIDATION_ERROR', requestId: wrong.headers.get('x-request-id') },
    ]);
    stock.intercept = ({ subgraph }) =>
      subgraph === 'tides' ? { errors: [{ message: 'no tide', extensions: { code: 'GONE' } }] } : undefined;
    const partial = (await stock.ask(QUERY)).body;
    expect([partial.data, partial.errors?.[0]?.extensions]).toMatchObject([
      {
        harbours: [
          { name: 'Hamburg', tide: null },
          { name: 'Rotterdam', tide: null },
        ],
      },
      { code: 'GONE', service: 'tides' },
    ]);
    expect((await request(`${stock.gateway.url}/readyz`, { method: 'GET' })).text).toMatch(/"supergraph":"[0-9a-f]{16}"/);
  } finally {
    await stock.stop();
  }
});

describe('the command', () => {
  it('names all invalid settings at once, and unknown options', async () => {
    await expect(startGateway(['--port', 'x', '--auth', 'maybe'])).rejects.toThrow(/PORT[\s\S]*AUTH/);
    await expect(startGateway(['--prot', '1'])).rejects.toThrow('--prot');
  });

  it('reads settings from the environment, and is installed under its name', async () => {
    const file = join(home, 'env.graphql');
    await writeFile(file, federation.supergraphSdl);
    const gateway = await startGateway([], { SUPERGRAPH_PATH: file, PORT: '0', HOST: '127.0.0.1', AUTH: 'off' });
    expect((await request(`${gateway.url}/graphql`, { method: 'POST', body: { query: QUERY } })).body).toEqual({ data: DATA });
    await gateway.end('SIGTERM');
    const link = new URL('../../../node_modules/.bin/trestle-gateway', import.meta.url).pathname;
    const printed = await new Promise<string>((resolve) =>
      execFile(link, ['--nonsense'], (_, __, stderr) => {
        resolve(stderr);
      }),
    );
    expect(printed).toContain('--nonsense');
  });

  it('ends within 3 s also when npx gets the signal', async () => {
    const file = join(home, 'npx.graphql');
    await writeFile(file, federation.supergraphSdl);
    const cwd = fileURLToPath(new URL('../../../', import.meta.url));
    const args = ['--no-install', 'trestle-gateway', '--supergraph', file, '--port', '0', '--auth', 'off'];
    const gateway = await toRunningProcess(spawn('npx', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] }), 'gateway');
    const began = performance.now();
    await gateway.end('SIGTERM');
    await until(async () => (await fetch(`${gateway.url}/livez`).catch(() => undefined)) === undefined);
    expect(performance.now() - began).toBeLessThan(3000);
  });

  it('ends within 3 s of SIGTERM, after the responses to requests in flight', async () => {
    const own = await startFederation(subgraphs);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let arrived = false;
    own.intercept = async () => {
      arrived = true;
      await held;
    };
    const answer = own.ask(QUERY);
    await until(() => Promise.resolve(arrived));
    const began = performance.now();
    const ended = own.gateway.end('SIGTERM');
    // Taken no more once it goes down.
    await until(async () => (await fetch(`${own.gateway.url}/livez`).catch(() => undefined)) === undefined);
    release();
    expect((await answer).body).toEqual({ data: DATA });
    await ended;
    expect(performance.now() - began).toBeLessThan(3000);
    await own.stop();
  });

  it('ends within 3 s of SIGTERM also when a subgraph never responds', async () => {
    // By default it would wait for 2.5 s (config.test.ts): a busy machine needs what is left.
    const own = await startFederation(subgraphs, { env: { SUBSCRIPTION_DRAIN_MS: '0', REQUEST_DRAIN_MS: '200' } });
    let arrived = false;
    own.intercept = () => {
      arrived = true;
      return new Promise(() => undefined);
    };
    const answer = own.ask(QUERY).catch(() => 'cut off');
    await until(() => Promise.resolve(arrived));
    const began = performance.now();
    await own.gateway.end('SIGTERM');
    expect(performance.now() - began).toBeLessThan(3000);
    expect(await answer).toBe('cut off');
    await own.stop();
  });
});
