/** The configuration file of `trestle-gateway`: how it is checked, written, and changed while the gateway serves. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { until } from '../../stack/clients/client.ts';
import { type Federation, type SubgraphSource, startFederation } from '../../stack/federation/federation.ts';

const COMMAND = fileURLToPath(new URL('../../../gateway/bin/trestle-gateway.mjs', import.meta.url));
const SCHEMA = fileURLToPath(new URL('../../../gateway/trestle.schema.json', import.meta.url));

const SOURCES: Readonly<Record<string, SubgraphSource>> = {
  planets: {
    sdl: 'type Query { planet: Planet } type Planet @key(fields: "name") { name: ID! near: Planet }',
    resolvers: { Query: { planet: () => ({ name: 'Mars', near: { name: 'Phobos' } }) } },
  },
};
const DEEP = '{ planet { near { near { near { name } } } } }';
const FLAT = '{ planet { name } }';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-configuration-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command that ends by itself, in the folder `cwd`. */
const run = (args: readonly string[], { cwd = folder, env = {} }: { cwd?: string; env?: Record<string, string> } = {}) =>
  new Promise<Ended>((resolve) => {
    execFile(process.execPath, [COMMAND, ...args], { cwd, env: { PATH: process.env['PATH'], ...env } }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });

/** Replaces a file by a rename, as deployments do. */
const replace = async (file: string, text: string) => {
  await writeFile(`${file}.next`, text);
  await rename(`${file}.next`, file);
};

describe('a gateway with a configuration file', () => {
  const file = () => join(folder, 'running.yaml');
  let federation: Federation;
  beforeAll(async () => {
    await writeFile(file(), 'limits: { maxDepth: 3 }\nserver: { graphiql: "${UI:false}" }\n');
    federation = await startFederation(SOURCES, {
      args: ['--config', file(), '--set', 'limits.maxAliases=1'],
      env: { MAX_ROOT_FIELDS: '2' },
    });
  });
  afterAll(() => federation.stop());

  const lines = () => federation.gateway.lines.join('\n');
  const statusOf = async (query: string) => (await federation.ask(query)).status;

  it('uses the file, the environment and the command line', async () => {
    expect(await statusOf(DEEP)).toBe(400);
    expect(await statusOf('{ a: planet { name } b: planet { name } }')).toBe(400);
    expect(await statusOf('{ planet { name } x: __typename }')).toBe(200);
    expect(await statusOf('{ planet { name } __typename x: __typename }')).toBe(400);
    expect((await fetch(federation.url, { headers: { accept: 'text/html' } })).headers.get('content-type')).not.toContain('text/html');
  });

  it('applies a changed file while it serves, without a failed request', async () => {
    const statuses = new Set<number>();
    let isOver = false;
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) statuses.add(await statusOf(FLAT));
      }),
    );
    await replace(file(), 'limits: { maxDepth: 5 }\nserver: { graphiql: true, maxConnections: 77 }\n');
    await until(async () => (await statusOf(DEEP)) === 200);
    isOver = true;
    await load;
    expect([...statuses]).toEqual([200]);
  });

  it('logs which changes take effect at the next start', async () => {
    await until(() => Promise.resolve(/take effect at the next start:[^"]*server\.maxConnections/.test(lines())));
    expect(lines()).not.toMatch(/next start:[^"]*maxDepth/);
  });

  it('refuses a file with faults, logs where they are, and keeps the running settings', async () => {
    await replace(file(), 'limits: { maxDepth: 1, maxCost: hunter2 }\n');
    await until(() => Promise.resolve(lines().includes('refused a changed configuration')));
    expect(lines()).toContain('running.yaml:1:33: limits.maxCost: must be an integer');
    expect(lines()).not.toContain('hunter2');
    expect(await statusOf(DEEP)).toBe(200);
  });

  it('keeps flags and environment above a changed file', async () => {
    await replace(file(), 'limits: { maxDepth: 1, maxAliases: 20, maxRootFields: 20 }\n');
    await until(async () => (await statusOf(FLAT)) === 400);
    await replace(file(), 'limits: { maxDepth: 5, maxAliases: 20, maxRootFields: 20 }\n');
    await until(async () => (await statusOf(FLAT)) === 200);
    expect(await statusOf('{ a: __typename b: __typename }')).toBe(400);
  });

  it('sends fetches to the new address of a subgraph', async () => {
    const other = await startFederation({
      planets: { ...SOURCES['planets'], resolvers: { Query: { planet: () => ({ name: 'Venus' }) } } } as SubgraphSource,
    });
    try {
      const url = /url: "(http:[^"]+)"/.exec(other.supergraphSdl)?.[1] ?? '';
      await replace(file(), `subgraphs: { PLANETS: { url: "${url}" } }\n`);
      await until(async () => JSON.stringify((await federation.ask(FLAT)).body).includes('Venus'));
      await replace(file(), '{}\n');
      await until(async () => JSON.stringify((await federation.ask(FLAT)).body).includes('Mars'));
    } finally {
      await other.stop();
    }
  });

  it('keeps a supergraph that was replaced meanwhile', async () => {
    await federation.replaceSupergraph(federation.supergraphSdl.replace('near: Planet', 'near: Planet\n  moon: Planet'));
    await until(async () => (await statusOf('{ planet { moon { name } } }')) !== 400);
    await replace(file(), 'limits: { maxDepth: 3 }\n');
    await until(async () => (await statusOf('{ planet { near { near { name } } } }')) === 400);
    expect(await statusOf('{ planet { moon { name } } }')).not.toBe(400);
  });
});

describe('trestle-gateway check', () => {
  let sdl: string;
  beforeAll(async () => {
    const federation = await startFederation(SOURCES);
    sdl = federation.supergraphSdl;
    await federation.stop();
    await writeFile(join(folder, 'good.graphql'), sdl);
    await writeFile(join(folder, 'bad.graphql'), 'type Query { a: Int }');
  });

  const check = async (text: string, args: readonly string[] = []) => {
    await writeFile(join(folder, 'check.yaml'), text);
    return run(['check', '--config', 'check.yaml', '--auth', 'off', ...args]);
  };

  it('exits with 0 for a valid configuration and supergraph', async () => {
    expect(await check('supergraph: { file: good.graphql }\nsubgraphs: { planets: { errors: mask } }')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^check\.yaml is valid\.\n.*good\.graphql is valid: 1 subgraphs \(planets\)\.\n$/),
      stderr: '',
    });
  });

  it('exits with 1 for faults in the settings, and names all of them', async () => {
    const { code, stdout, stderr } = await check('limits: { maxDepth: -1 }\nlog: { level1: info }', ['--port', 'x']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('check.yaml:1:21: limits.maxDepth: must be an integer from 1 to 1000');
    expect(stderr).toContain('check.yaml:2:8: log.level1: is unknown; did you mean `level`?');
    expect(stderr).toContain('PORT: must be a port number');
  });

  it('exits with 1 for settings of a subgraph that the supergraph does not have', async () => {
    const { code, stderr } = await check('supergraph: { file: good.graphql }\nsubgraphs:\n  planet: { errors: mask }');
    expect([code, stderr]).toEqual([1, 'check.yaml:3:3: subgraphs.planet: is no subgraph of the supergraph; did you mean `planets`?\n']);
  });

  it('exits with 1 for subscriptions of the response cache that are not valid for the supergraph', async () => {
    await writeFile(join(folder, 's.graphql'), 'subscription A { nope }');
    const { code, stderr } = await check(
      'supergraph: { file: good.graphql }\nresponseCache: { store: memory, subscriptions: { file: s.graphql } }',
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/^check\.yaml:2:\d+: responseCache\.subscriptions\.file: .*subscription/i);
    const sources = { topics: { sdl: 'type Query { a: Int } type Subscription { b: Int }', resolvers: {} } };
    const federation = await startFederation(sources);
    await federation.stop();
    await writeFile(join(folder, 'topics.graphql'), federation.supergraphSdl);
    const other = await check('supergraph: { file: topics.graphql }\nresponseCache: { store: memory, subscriptions: { file: s.graphql } }');
    expect(other.stderr).toContain('Cannot query field "nope" on type "Subscription".');
  });

  it('exits with 1 for environment variables of such a subgraph', async () => {
    const env = { SUBGRAPH_URL_PLANET: 'http://127.0.0.1:9/', SUBGRAPH_TIMEOUT_MS_PLANETS: '500' };
    const { code, stderr } = await run(['check', '--supergraph', 'good.graphql', '--auth', 'off'], { env });
    expect([code, stderr]).toEqual([1, 'SUBGRAPH_URL_PLANET: `planet` is no subgraph of the supergraph; did you mean `planets`?\n']);
  });

  it.each([
    ['is missing', 'none.graphql', 'ENOENT'],
    ['is no supergraph', 'bad.graphql', 'bad.graphql: This is not a supergraph'],
  ])('exits with 2 when the supergraph %s', async (_, file, reason) => {
    const { code, stdout, stderr } = await check(`supergraph: { file: ${file} }`);
    expect([code, stdout]).toEqual([2, 'check.yaml is valid.\n']);
    expect(stderr).toContain(reason);
  });

  it('never prints a value', async () => {
    const text = 'supergraph: { file: good.graphql }\nrateLimits: { redisUrl: "redis://user:hunter2@h" }\n';
    const env = { MAX_COST: 'hunter2' };
    await writeFile(join(folder, 'secret.yaml'), text);
    const results = [
      await run(['check', '--config', 'secret.yaml', '--auth', 'off']),
      await run(['check', '--config', 'secret.yaml', '--auth', 'off'], { env }),
      await check(text.replace('redis:', 'http:')),
    ];
    expect(results.map(({ code }) => code)).toEqual([0, 1, 1]);
    for (const { stdout, stderr } of results) expect(stdout + stderr).not.toContain('hunter2');
  });

  it('does not accept two files in the working directory', async () => {
    const cwd = await mkdtemp(join(folder, 'two-'));
    await writeFile(join(cwd, 'trestle.yaml'), '{}');
    await writeFile(join(cwd, 'trestle.json'), '{}');
    expect(await run(['check'], { cwd })).toMatchObject({ code: 1, stderr: expect.stringContaining('--config') });
  });

  it('agrees with the JSON Schema about what is valid', async () => {
    const validate = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(await readFile(SCHEMA, 'utf8')) as object);
    const base = 'supergraph: { file: good.graphql }\n';
    const good = [
      'server:',
      'server: { port: 0, corsOrigins: ["https://a.example"] }',
      'log: { level: warn }',
      'log: { level: "${L:info}" }',
    ];
    good.push('limits: { maxDepth: "${D:5}", introspection: false }', 'subgraphs: { planets: { url: "https://h/g" } }', '$schema: x');
    const bad = ['server: { port: 65536 }', 'server: { port: "1" }', 'log: { level: loud }', 'limits: { introspection: on }', 'nope: 1'];
    bad.push(
      'subgraphs: { planets: { uri: "http://h" } }',
      'subgraphs: { planets: { url: "ftp://h" } }',
      'server: []',
      'headers: { forward: ["a b"] }',
    );
    for (const [texts, isValid] of [
      [good, true],
      [bad, false],
    ] as const)
      for (const text of texts) {
        const { code } = await check(base + text);
        expect([text, code === 0, validate(parse(base + text))]).toEqual([text, isValid, isValid]);
      }
  });
});

describe('trestle-gateway init', () => {
  it('writes a configuration that check accepts, with the schema beside it, and does not overwrite it', async () => {
    const cwd = await mkdtemp(join(folder, 'init-'));
    expect(await run(['init'], { cwd })).toMatchObject({ code: 0, stdout: expect.stringContaining('Wrote trestle.yaml') });
    expect((await readdir(cwd)).sort()).toEqual(['trestle.schema.json', 'trestle.yaml']);
    const text = await readFile(join(cwd, 'trestle.yaml'), 'utf8');
    expect(text).toContain('# yaml-language-server: $schema=./trestle.schema.json\n');
    expect(await readFile(join(cwd, 'trestle.schema.json'), 'utf8')).toBe(await readFile(SCHEMA, 'utf8'));
    await writeFile(join(cwd, 'supergraph.graphql'), await readFile(join(folder, 'good.graphql')));
    expect(await run(['check'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    await writeFile(join(cwd, 'trestle.yaml'), '# mine\n');
    expect(await run(['init'], { cwd })).toMatchObject({ code: 1, stderr: expect.stringContaining('trestle.yaml exists') });
    expect(await readFile(join(cwd, 'trestle.yaml'), 'utf8')).toBe('# mine\n');
    expect((await readdir(cwd)).sort()).toEqual(['supergraph.graphql', 'trestle.schema.json', 'trestle.yaml']);
  });

  it('writes nothing beside a configuration of another default name, or into a folder that does not exist', async () => {
    const cwd = await mkdtemp(join(folder, 'init-'));
    await writeFile(join(cwd, 'trestle.json'), '{}');
    expect(await run(['init'], { cwd })).toMatchObject({ code: 1, stderr: expect.stringContaining('trestle.json exists') });
    const other = await run(['init', '--config', 'none/x.yaml'], { cwd });
    expect(other).toMatchObject({ code: 1, stderr: 'none/x.yaml: the folder none does not exist.\n' });
    expect(await readdir(cwd)).toEqual(['trestle.json']);
    expect(await run(['init', '--config', 'x.yaml'], { cwd })).toMatchObject({ code: 0 });
  });
});
