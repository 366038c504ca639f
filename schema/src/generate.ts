/** `npm run generate`: Prisma clients and resolver types of every subgraph; does nothing where their sources did not change. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { generateResolverTypes } from './resolver-types.ts';
import { SUBGRAPH_NAMES, type SubgraphName, readSubgraphSdl } from './sdl.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const require = createRequire(import.meta.url);
const prismaCli = join(dirname(require.resolve('prisma/package.json')), 'build/index.js');

await Promise.all(SUBGRAPH_NAMES.map(generate));

async function generate(name: SubgraphName): Promise<void> {
  const target = join(root, 'subgraphs', name, 'src/generated');
  const stamp = join(target, 'sources.sha256');
  const hash = hashSources(name);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const options = JSON.parse(readFileSync(typesConfig(name), 'utf8')) as { mappers: Record<string, string>; contextType: string };
  const [types] = await Promise.all([generateResolverTypes({ sdl: readSubgraphSdl(name), ...options }), generatePrismaClient(name)]);
  writeFileSync(join(target, 'resolvers.ts'), types);
  writeFileSync(stamp, hash);
  process.stdout.write(`generated subgraphs/${name}/src/generated\n`);
}

/** `prisma generate` needs no engine but stops to look for one: any executable will do (see docs/adr/0002). */
async function generatePrismaClient(name: SubgraphName): Promise<void> {
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' };
  const config = join(root, 'prisma', name, 'prisma.config.ts');
  await promisify(execFile)(process.execPath, [prismaCli, 'generate', '--config', config], { cwd: root, env });
}

function hashSources(name: SubgraphName): string {
  const hash = createHash('sha256').update(readSubgraphSdl(name));
  const room = fileURLToPath(new URL('.', import.meta.url));
  const files = readdirSync(room).filter((file) => /^(generate|resolver-types)\.[jt]s$/.test(file));
  for (const file of [join(root, 'prisma', name, 'schema.prisma'), typesConfig(name), ...files.map((file) => join(room, file))]) {
    hash.update(readFileSync(file));
  }
  return hash.update(readFileSync(require.resolve('prisma/package.json'))).digest('hex');
}

function typesConfig(name: SubgraphName): string {
  return join(root, 'subgraphs', name, 'resolver-types.json');
}
