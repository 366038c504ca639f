/** Two-way checks that what is written down about settings and deployment is what the code reads. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { SUBGRAPH_NAMES, databaseSettingOf, eventsUrlSettingOf, urlSettingOf } from '@trestle/schema/subgraphs';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');
const names = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name ?? '');

/** Every file of the processes that declares settings. */
const READERS = ['local', 'gateway', 'registry', 'rest-bridge', 'packages', 'subgraphs'].flatMap((folder) =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^(?:[\w-]+\/)?src\/(?:.*\/)?(?:config|(?:[\w-]+-)?settings)\.ts$/.test(path))
    .map((path) => `${folder}/${path}`),
);
const settings = new Set(READERS.flatMap((path) => names(read(path), /(?:^|[{,]) *([A-Z][A-Z0-9_]+):/gm)));
const family: readonly string[] = SUBGRAPH_NAMES.flatMap((name) => [urlSettingOf(name), eventsUrlSettingOf(name)]);

it('has one line for each setting that a process reads, and no other', () => {
  const rows = names(read('.env.example'), /^([A-Z][A-Z0-9_]+)=/gm);
  expect(new Set(rows).size).toBe(rows.length);
  expect([...rows].sort()).toEqual([...settings, ...family].sort());
});

interface Compose {
  services: Record<
    string,
    {
      image?: string;
      command?: string[];
      user?: string;
      environment?: Record<string, string | number>;
      healthcheck?: { test: string[] };
      depends_on?: Record<string, { condition: string }>;
      secrets?: string[];
    }
  >;
  secrets: Record<string, { file: string }>;
}

describe('docker-compose.yml', () => {
  const { services, secrets } = parse(read('docker-compose.yml'), { merge: true }) as Compose;

  it('runs PostgreSQL, Redis, NATS and every process of ours, each with a health check', () => {
    expect(Object.keys(services).sort()).toEqual(
      [...SUBGRAPH_NAMES, 'gateway', 'nats', 'postgres', 'redis', 'registry', 'rest-bridge'].sort(),
    );
    for (const { healthcheck } of Object.values(services)) expect(healthcheck?.test.length).toBeGreaterThan(1);
  });

  it('names only existing entry points, settings, secrets and services', () => {
    for (const { command = [], environment = {}, depends_on = {}, secrets: used = [] } of Object.values(services)) {
      const [program, ...rest] = command;
      const entry = rest.find((each) => !each.startsWith('--')) ?? '';
      if (program === 'node') expect(existsSync(root + entry.replace(/\/dist\/(?:bundle\/)?/, '/src/').replace(/\.js$/, '.ts'))).toBe(true);
      for (const name of Object.keys(environment)) if (!name.startsWith('POSTGRES_')) expect([...settings, ...family]).toContain(name);
      for (const name of Object.keys(depends_on)) expect(services).toHaveProperty(name);
      for (const name of used) expect(secrets).toHaveProperty(name);
    }
  });

  it('starts each process with the shared options of Node.js, as the owner of the secrets', () => {
    for (const [name, { command, user, environment }] of Object.entries(services)) {
      if (['postgres', 'redis', 'nats'].includes(name)) continue;
      expect(command?.slice(0, 2)).toEqual(['node', '--env-file=packages/service/node.env']);
      expect(user).toBe('${TRESTLE_USER:-1000:1000}');
      // Not the public port: metrics are for the inside only.
      expect(environment).toMatchObject({ METRICS_PORT: 9464 });
    }
    expect(existsSync(`${root}packages/service/node.env`)).toBe(true);
  });

  it('sets the same threshold of the memory allocator in the image, in `npm start` and in the command', () => {
    const files = ['Dockerfile', 'local/src/processes.ts', 'gateway/bin/trestle-gateway.mjs', 'docs/operations.md'];
    const found = files.map((file) => /MALLOC_TRIM_THRESHOLD_(?:=|: '|:-)(\d+)/.exec(read(file))?.[1]);
    expect(found).toEqual(files.map(() => '4194304'));
  });

  it('gives each subgraph a database that PostgreSQL creates at its first start', () => {
    const sql = read('prisma/create-databases.sql');
    for (const name of SUBGRAPH_NAMES) {
      expect(sql).toContain(`CREATE DATABASE trestle_${name};`);
      expect(services[name]?.environment?.[databaseSettingOf(name)]).toMatch(new RegExp(`@postgres:5432/trestle_${name}$`));
      expect(services['gateway']?.environment).toHaveProperty(urlSettingOf(name));
    }
  });

  it('gives the registry a database that PostgreSQL creates at its first start', () => {
    expect(read('prisma/create-databases.sql')).toContain('CREATE DATABASE trestle_registry;');
    expect(services['registry']?.environment?.['REGISTRY_DATABASE_URL']).toMatch(/@postgres:5432\/trestle_registry$/);
  });

  it('counts the requests per minute of gateway and bridge in one Redis', () => {
    for (const name of ['gateway', 'rest-bridge']) expect(services[name]?.environment).toMatchObject({ REDIS_URL: 'redis://redis:6379' });
  });

  it('contains no secret', () => {
    expect(read('docker-compose.yml')).not.toMatch(/PASSWORD: (?!\$\{POSTGRES_PASSWORD)/);
  });
});
