/** The command trestle as a process of its package, without a registry and with a running one (docs/cli.md). */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type TestRegistry, newEnvironment, startRegistry } from '../registry/registry-client.ts';
import { type PackedCommand, installCommand } from './packed-command.ts';
import { type TestSubgraph, startSubgraph } from './test-subgraph.ts';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])\n';
const PRODUCTS = `${LINK}type Query {\n  "One."\n  product: Product\n}\n"A product."\ntype Product @key(fields: "id") {\n  "Its id."\n  id: ID!\n}\n`;
const REVIEWS = `${LINK}type Query {\n  "All."\n  reviews: [Review]\n}\n"A review."\ntype Review {\n  "Stars."\n  rating: Int\n}\n`;

let command: PackedCommand;
let registry: TestRegistry;
let subgraph: TestSubgraph;
beforeAll(async () => {
  [command, registry, subgraph] = await Promise.all([installCommand(), startRegistry(), startSubgraph(PRODUCTS)]);
  await write({ 'products.graphql': PRODUCTS, 'reviews.graphql': REVIEWS, 'v2.graphql': REVIEWS.replace('rating: Int', 'stars: Int') });
  const entry = (name: string) => `${name}: { routing_url: "http://${name}.example", schema: { file: ./${name}.graphql } }`;
  await write({ 'supergraph.yaml': `subgraphs:\n  ${entry('products')}\n  ${entry('reviews')}\n` });
}, 120_000);
afterAll(async () => {
  await Promise.all([command.remove(), registry.stop(), subgraph.stop()]);
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(command.folder, name), text);
}
const run = (line: string, env?: Readonly<Record<string, string>>, input?: string) => command.run(line.split(' '), env, input);

describe('the command trestle without a registry', () => {
  it('lints with code frames, annotations or JSON, and colours only where they are wanted', async () => {
    await write({ 'bad.graphql': 'type Query {\n  "Old.\u001b[31m"\n  a: Int @deprecated\n}\n' });
    const text = await run('subgraph lint bad.graphql');
    expect(text).toMatchObject({ code: 1, stderr: '' });
    expect(text.stdout).toContain('  bad.graphql:3:10\n  2 |   "Old.\ufffd[31m"\n  3 |   a: Int @deprecated\n    |          ^\n');
    const github = await run('subgraph lint bad.graphql --format github');
    expect(github.stdout).toMatch(/^::error file=bad\.graphql,line=3,col=10,title=require-deprecation-reason::/u);
    const json = await run('subgraph lint bad=- --json', {}, 'type Query { a: Int @deprecated }');
    expect(JSON.parse(json.stdout)).toMatchObject({
      json_version: '1',
      error: null,
      data: { faults: [{ line: 1 }, { code: 'require-description' }] },
    });
    expect((await run('subgraph lint bad.graphql', { FORCE_COLOR: '1' })).stdout).toContain('\u001b[31merror\u001b[0m');
  });

  it('composes, compares and checks against a file by recorded operations, with an exit code for each verdict', async () => {
    expect(await run('supergraph compose --config supergraph.yaml --output supergraph.graphql')).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    const api = await run('supergraph compose --config supergraph.yaml --api');
    await write({ 'api.graphql': api.stdout });
    expect(await run('supergraph diff supergraph.graphql api.graphql --fail-on-breaking')).toMatchObject({
      code: 0,
      stdout: 'No change.\n',
    });
    const check = 'subgraph check reviews=v2.graphql --against supergraph.graphql';
    expect(await run(check)).toMatchObject({ code: 1, stdout: expect.stringContaining('breaking FIELD_REMOVED') });
    const record = async (field: string, days: number) => {
      const clients = [{ name: 'web', version: '1.4', count: 250, lastSeen: '2026-01-30T10:00:00Z' }];
      const operations = [{ hash: 'h', name: 'Reviews', text: `query Reviews { reviews { ${field} } }`, clients }];
      await write({ 'operations.json': JSON.stringify({ days, operations }) });
      return await run(`${check} --operations operations.json`);
    };
    const used = await record('rating', 30);
    expect(used).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('used by Reviews of web 1.4 (250 requests, 100 %, last 2026-01-30'),
    });
    expect(await record('__typename', 3)).toMatchObject({ code: 3, stdout: expect.stringContaining('Not enough data') });
    expect(await record('__typename', 30)).toMatchObject({ code: 0, stdout: expect.stringContaining('(no recorded operation uses it)') });
    await write({ 'broken.graphql': `${LINK}type Query {\n  reviews: Nothing\n}\n` });
    const bare = Array.from({ length: 9 }, (_, at) => `type T${String(at)} { a: Int }`).join('\n');
    await write({ 'bare.graphql': `${REVIEWS}\n${bare}` });
    const many = await run('subgraph check reviews=bare.graphql --against supergraph.yaml');
    expect(many.stdout.match(/^warning require-description/gmu)).toHaveLength(3);
    expect(many.stdout).toMatch(/^… and \d+ more of require-description$/mu);
    const broken = await run('subgraph check reviews=broken.graphql --against supergraph.yaml');
    expect(broken).toMatchObject({ code: 1, stdout: expect.stringContaining('broken.graphql:3:12\n') });
  });

  it('ends with code 2 for a wrong command line, and 4 when the registry cannot be reached', async () => {
    for (const line of [
      'nothing',
      'subgraph',
      'subgraph check',
      'subgraph lint missing.graphql',
      'subgraph lint --nope',
      'launch list --environment prod',
    ])
      expect({ line, code: (await run(line)).code }).toEqual({ line, code: 2 });
    const lost = await run('launch list --environment prod --registry http://127.0.0.1:1 --json', { REGISTRY_TOKEN: 'secret' });
    expect(lost).toMatchObject({ code: 4, stderr: '' });
    expect(JSON.parse(lost.stdout)).toMatchObject({ data: null, error: { code: 'UNREACHABLE' } });
  });
});

describe('the command trestle with a registry', () => {
  const environmentOf = (REGISTRY_ENVIRONMENT: string) => ({
    REGISTRY_URL: registry.url,
    REGISTRY_TOKEN: registry.token,
    REGISTRY_ENVIRONMENT,
  });

  it('publishes several subgraphs or none, and reads, promotes and deletes what is published', async () => {
    const env = environmentOf(newEnvironment());
    const urls = '--routing-url products=http://p.example --routing-url reviews=http://r.example';
    await write({ 'broken.graphql': REVIEWS.replace('[Review]', '[Missing]') });
    const refused = await run(`subgraph publish products.graphql reviews=broken.graphql ${urls}`, env);
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringMatching(/broken\.graphql:4:13\n[\s\S]*Nothing was published/u) });
    expect(await run('subgraph list', env)).toMatchObject({ code: 4 });
    expect(await run(`subgraph publish products.graphql reviews.graphql ${urls}`, env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Published as release 1'),
    });
    expect(await run('subgraph fetch reviews', env)).toEqual({ code: 0, stdout: REVIEWS, stderr: '' });
    expect((await run('subgraph list', env)).stdout).toMatch(/^products {2}http:\/\/p\.example[\s\S]*\nreviews {2}http:\/\/r\.example/u);
    expect((await run('supergraph fetch', env)).stdout).toContain('join__Graph');
    const to = newEnvironment();
    expect(await run(`launch promote --from ${env.REGISTRY_ENVIRONMENT} --to ${to}`, env)).toMatchObject({ code: 0 });
    expect(await run('subgraph delete reviews', env)).toMatchObject({ code: 2 });
    expect(await run('subgraph delete reviews --confirm', env)).toMatchObject({ code: 0 });
    const canary = await run(`launch promote --from ${env.REGISTRY_ENVIRONMENT} --to ${to} --percent 10`, env);
    expect(canary).toMatchObject({ code: 0, stdout: expect.stringMatching(/ canary from .* \(10 % [0-9a-f]{64}\)/u) });
    expect(await run(`launch rollback --environment ${to}`, env)).toMatchObject({ code: 0 });
    expect(await run(`launch promote --to ${to} --percent 0`, env)).toMatchObject({ code: 4, stderr: expect.stringContaining('1 to 99') });
    const diff = await run(`supergraph diff ${to} ${env.REGISTRY_ENVIRONMENT} --json`, env);
    expect(JSON.parse(diff.stdout)).toMatchObject({
      data: { changes: expect.arrayContaining([expect.objectContaining({ coordinate: 'Query.reviews' })]) },
    });
    await mkdir(join(command.folder, to));
    // A folder of the name of an environment is no schema.
    expect(await run(`supergraph diff ${to} ${to}`, env)).toMatchObject({ code: 0, stdout: 'No change.\n' });
    const { stdout } = await run('launch list --json', env);
    const { data } = JSON.parse(stdout) as { data: { releases: { launch: { id: string } }[] } };
    expect((await run(`launch show ${data.releases[0]?.launch.id ?? ''}`, env)).stdout).toContain('products');
    expect(await run('launch list', { ...env, REGISTRY_TOKEN: 'trestle_reg_wrong' })).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.not.stringContaining('trestle_reg_wrong'),
    });
  });

  it('prints in a check what only the second composer refuses, and the coordinate of each change', async () => {
    const env = environmentOf(newEnvironment());
    await run('subgraph publish reviews.graphql --routing-url http://r.example', env);
    await write({
      'twice.graphql': `${REVIEWS.replace('rating: Int', 'stars: Int')}"A mood."\nenum Mood {\n  "Good."\n  GOOD\n  GOOD\n}\n`,
    });
    const { code, stdout } = await run('subgraph check reviews=twice.graphql --json', env);
    expect({ code, output: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 1,
      output: {
        data: {
          check: {
            faults: expect.arrayContaining([expect.objectContaining({ code: 'COMPOSERS_DISAGREE', severity: 'warning' })]),
            changes: expect.arrayContaining([expect.objectContaining({ type: 'FIELD_REMOVED', coordinate: 'Review.rating' })]),
          },
        },
      },
    });
  });

  it('prints in a check how many changes the registry does not list', async () => {
    const env = environmentOf(newEnvironment());
    const fields = Array.from({ length: 1001 }, (_, at) => `  f${String(at)}: Int\n`).join('');
    await write({ 'wide.graphql': REVIEWS.replace('  "Stars."', `${fields}  "Stars."`) });
    await run('subgraph publish reviews=wide.graphql --routing-url http://r.example', env);
    const sentence = 'Changes that fail the check or lack data, beyond those that the registry lists: 1.';
    const check = 'subgraph check reviews.graphql';
    expect(await run(check, env)).toMatchObject({ code: 1, stdout: expect.stringContaining(`\n${sentence}\n`) });
    expect((await run(`${check} --format github`, env)).stdout).toContain(`::warning title=UNLISTED_CHANGES::${sentence}`);
    expect(JSON.parse((await run(`${check} --json`, env)).stdout)).toMatchObject({ data: { check: { unlistedCount: 1 } } });
  });

  it('waits until a subgraph serves the schema before it publishes, and publishes nothing when the time is over', async () => {
    const env = environmentOf(newEnvironment());
    const next = PRODUCTS.replace('  id: ID!', '  id: ID!\n  "Its name."\n  name: String');
    await write({ 'next.graphql': next });
    const publish = `subgraph publish products=next.graphql --routing-url http://p.example --wait-for ${subgraph.url}`;
    expect(await run(`${publish} --wait-seconds 1`, env)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('serves another schema'),
    });
    expect(await run('subgraph list', env)).toMatchObject({ code: 4 });
    const before = subgraph.count();
    const waiting = run(publish, env);
    await until(() => Promise.resolve(subgraph.count() > before));
    subgraph.deploy(next);
    expect(await waiting).toMatchObject({ code: 0, stdout: expect.stringContaining('Published as release 1') });
    expect((await run(`subgraph introspect ${subgraph.url}`)).stdout).toContain('name: String');
  });
});
