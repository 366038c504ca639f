/** The workflow of examples/reviews: its steps as GitHub Actions runs them, against a registry, with the packed command that `npx` finds. */
import { spawn } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { until } from '../../stack/clients/client.ts';
import { type PackedCommand, installCommand } from '../cli/packed-command.ts';
import { type TestSubgraph, startSubgraph } from '../cli/test-subgraph.ts';
import { type TestRegistry, newEnvironment, publish, startRegistry } from '../registry/registry-client.ts';
import { type CopiedExample, copyExample } from './copied-example.ts';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly run?: string;
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly jobs: Readonly<Record<string, { readonly env: Readonly<Record<string, string>>; readonly steps: readonly Step[] }>>;
}
/** A step that ran. */
interface Ran {
  readonly name: string | undefined;
  readonly code: number | null;
  readonly stdout: string;
}

const FILE = '.github/workflows/schema.yml';
const PRODUCTS = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
type Query { product(id: ID!): Product } type Product @key(fields: "id") { id: ID! } type User @key(fields: "id") { id: ID! }`;

let example: CopiedExample;
let command: PackedCommand;
let registry: TestRegistry;
let subgraph: TestSubgraph;
let workflow: Workflow;
let schema: string;
let environment: string;

beforeAll(async () => {
  [example, command, registry] = await Promise.all([copyExample('reviews'), installCommand(), startRegistry()]);
  const modules = join(example.folder, 'node_modules');
  for (const folder of ['@trestle', '.bin']) await mkdir(join(modules, folder));
  await symlink(join(command.folder, 'node_modules/@trestle/cli'), join(modules, '@trestle/cli'));
  await symlink('../@trestle/cli/bin/trestle.mjs', join(modules, '.bin/trestle'));
  schema = await readFile(join(example.folder, 'reviews.graphql'), 'utf8');
  subgraph = await startSubgraph(schema);
  workflow = parse(await readFile(join(example.folder, FILE), 'utf8')) as Workflow;
  environment = newEnvironment();
  await publish(registry, environment, { products: PRODUCTS, reviews: schema });
  const pushing = ['operations', 'push', '-', '--client', 'web', '--environment', environment];
  const env = { REGISTRY_URL: registry.url, REGISTRY_TOKEN: registry.token };
  const { code, stderr } = await command.run(pushing, env, 'query Ratings { review(id: 1) { rating } }');
  if (code !== 0) throw new Error(stderr);
}, 120_000);
afterAll(async () => {
  await Promise.all([example.remove(), command.remove(), registry.stop(), subgraph.stop()]);
});

/** Runs the steps of an event, up to one that fails, as GitHub Actions does. */
async function runSteps(event: 'pull_request' | 'push'): Promise<Ran[]> {
  const { schema: job } = workflow.jobs;
  if (!job) throw new Error('The workflow has no job `schema`.');
  const given: Readonly<Record<string, string>> = {
    ...{ 'vars.REGISTRY_URL': registry.url, 'secrets.REGISTRY_TOKEN': registry.token, 'vars.SUBGRAPH_URL': subgraph.url },
  };
  const settings = Object.entries(job.env).map(([name, value]) => [
    name,
    value.replace(/\$\{\{ ([\w.]+) \}\}/u, (_, key: string) => String(given[key])),
  ]);
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', HOME: example.folder, CI: 'true', GITHUB_SHA: 'abc123' },
    ...(Object.fromEntries(settings) as Record<string, string>),
    REGISTRY_ENVIRONMENT: environment,
  };
  const ran: Ran[] = [];
  for (const step of job.steps.filter(({ if: condition }) => condition === undefined || condition === `github.event_name == '${event}'`)) {
    if (step.run === undefined) continue;
    const child = spawn('bash', ['-e', '-c', step.run], { cwd: example.folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
    const stdout = await text(child.stdout);
    ran.push({ name: step.name, stdout, code: await closed });
    if (ran.at(-1)?.code !== 0) break;
  }
  return ran;
}
const readReleases = async () => {
  const query =
    'query ($name: String!) { environment(name: $name) { releases(first: 9) { number message } subgraph(name: "reviews") { url sdl } } }';
  const { data } = await registry.graphql<{ environment: object }>(query, { name: environment });
  return data?.environment;
};
const outcomesOf = (ran: readonly Ran[]) => ran.map(({ name, code }) => `${String(name)} ${String(code)}`);

describe('the workflow of examples/reviews', () => {
  it('runs on pull requests and on pushes to main, and has no step that neither runs', () => {
    expect(workflow.on).toEqual({ pull_request: null, push: { branches: ['main'] } });
    expect(workflow.jobs['schema']?.steps.map(({ uses, name }) => uses ?? name)).toEqual([
      ...['actions/checkout@v4', 'actions/setup-node@v4', 'Lint', 'Check', 'Publish'],
    ]);
  });

  it('checks a pull request, and writes annotations for a change that breaks a client', async () => {
    expect(outcomesOf(await runSteps('pull_request'))).toEqual(['Lint 0', 'Check 0']);
    await writeFile(join(example.folder, 'reviews.graphql'), schema.replace('  rating: Int!\n  "What', '  stars: Int!\n  "What'));
    const ran = await runSteps('pull_request');
    expect(outcomesOf(ran)).toEqual(['Lint 0', 'Check 1']);
    const annotations = ran[1]?.stdout.split('\n').filter((line) => line.startsWith('::error ')) ?? [];
    expect(annotations.join('\n')).toContain('Operation "Ratings" of client "web"');
    expect(await readReleases()).toMatchObject({ releases: [{ number: 1 }] });
  });

  it('publishes after a merge, once the subgraph serves the schema', async () => {
    const next = schema.replace('  rating: Int!\n  "What', '  rating: Int!\n  "Whether it was checked."\n  isChecked: Boolean\n  "What');
    await writeFile(join(example.folder, 'reviews.graphql'), next);
    const before = subgraph.count();
    const running = runSteps('push');
    await until(() => Promise.resolve(subgraph.count() > before));
    expect(await readReleases()).toMatchObject({ releases: [{ number: 1 }] });
    subgraph.deploy(next);
    expect(outcomesOf(await running)).toEqual(['Lint 0', 'Publish 0']);
    expect(await readReleases()).toMatchObject({
      releases: [{ number: 2, message: 'abc123' }, { number: 1 }],
      subgraph: { url: subgraph.url, sdl: next },
    });
  });
});
