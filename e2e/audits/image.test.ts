/** The image holds what the processes need, and nothing of development. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { SUBGRAPH_NAMES } from '@trestle/schema/subgraphs';

const root = fileURLToPath(new URL('../../', import.meta.url));

// `cp --parents` is of GNU; the image is built on Debian.
const onLinux = process.platform === 'linux' ? it : it.skip;
onLinux('contains every entry point and the files that it reads, but no source, test or declaration', async () => {
  const target = await mkdtemp(join(tmpdir(), 'trestle-image-'));
  try {
    execFileSync('sh', ['image-files.sh', target], { cwd: root });
    const rooms = [...SUBGRAPH_NAMES.map((name) => `subgraphs/${name}`), 'gateway', 'registry', 'rest-bridge'];
    const entries = [
      ...rooms.map((room) => `${room}/dist/bundle/main.js`),
      'subgraphs/users/dist/admin/main.js',
      'subgraphs/users/dist/second-factor-reset/main.js',
      'gateway/dist/bundle/planner-worker.js',
      'registry/dist/bundle/compose-worker.js',
      'registry/dist/token-create/main.js',
    ];
    const read = [
      'schema/supergraph.graphql',
      'schema/served/users.graphql',
      'registry/registry.graphql',
      'gateway/dist/graphiql/manifest.json',
      'packages/service/node.env',
      'rest-bridge/src/operations',
    ];
    for (const path of [...entries, ...read, ...[...SUBGRAPH_NAMES, 'registry'].map((name) => `prisma/${name}/migrations`)])
      expect([path, existsSync(join(target, path))]).toEqual([path, true]);
    const files = await readdir(target, { recursive: true });
    expect(files.filter((file) => /\.ts$|\.test\.|\.map$|tsbuildinfo|(?:^|\/)(?:local|e2e|bench|node_modules)(?:\/|$)/.test(file))).toEqual(
      [],
    );
  } finally {
    await rm(target, { recursive: true, force: true });
  }
});

it('has a target for the gateway alone, which runs the command of its package as a user without rights', () => {
  const stages = readFileSync(join(root, 'Dockerfile'), 'utf8').split(/^(?=FROM )/m);
  const stage = stages.find((each) => /^FROM .* AS gateway$/m.test(each)) ?? '';
  const { bin } = JSON.parse(readFileSync(join(root, 'gateway/package.json'), 'utf8')) as { bin: Record<string, string> };
  expect(stage).toContain('npm install --global --omit=dev --ignore-scripts /tmp/trestle-gateway.tgz');
  expect(stage).toContain(`ENTRYPOINT ["${Object.keys(bin).join()}"]`);
  expect(stage).toContain('USER node');
  // An image without a target is that of all processes.
  expect(stages.at(-1)).not.toContain(stage);
});

it('is built without the folders in which docker-compose.yml keeps secrets and files', () => {
  const ignored = new Set(readFileSync(join(root, '.dockerignore'), 'utf8').split('\n'));
  const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const mounted = new Set(Array.from(compose.matchAll(/(?<=['"\s])\.\/([^/:'"\s]+)/g), ([, folder = '']) => folder));
  // The image needs the migrations in `prisma`.
  expect([...mounted].filter((folder) => !ignored.has(folder))).toEqual(['prisma']);
  expect([...mounted].sort()).toEqual(['files', 'prisma', 'secrets']);
});
