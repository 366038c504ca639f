/** `npm run generate`: generates Prisma clients and resolver types of every subgraph, and types of the REST client. Skips what is up to date. */
// cspell:ignore APITS
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import openapiTS, { type OpenAPITSOptions, astToString, stringToAST } from 'openapi-typescript';
import { generateResolverTypes } from './resolver-types.ts';
import { readSubgraphSdl, schemaPath } from './sdl.ts';
import { SUBGRAPH_NAMES, type SubgraphName } from './subgraphs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const require = createRequire(import.meta.url);
const prismaCli = join(dirname(require.resolve('prisma/package.json')), 'build/index.js');

await Promise.all([...SUBGRAPH_NAMES.map(generateSubgraph), generateClient()]);

async function generateSubgraph(name: SubgraphName): Promise<void> {
  const sources = [schemaPath(`${name}.graphql`), join(root, 'prisma', name, 'schema.prisma'), typesConfig(name)];
  await refresh(`subgraphs/${name}/src/generated`, sources, async (target) => {
    const options = JSON.parse(readFileSync(typesConfig(name), 'utf8')) as { mappers: Record<string, string>; contextType: string };
    const [types] = await Promise.all([generateResolverTypes({ sdl: readSubgraphSdl(name), ...options }), generatePrismaClient(name)]);
    writeFileSync(join(target, 'resolvers.ts'), types);
  });
}

async function generateClient(): Promise<void> {
  const documents = ['v1', 'v2'].map((version) => ({ version, file: schemaPath(`openapi/${version}.json`) }));
  const sources = documents.map(({ file }) => file);
  await refresh('packages/client/src/generated', sources, async (target) => {
    for (const { version, file } of documents)
      writeFileSync(join(target, `${version}.ts`), astToString(await openapiTS(readFileSync(file, 'utf8'), { transform: toBlob })));
  });
}

type Transform = NonNullable<OpenAPITSOptions['transform']>;

/** Returns the type of bytes; undefined for every other schema, whose type is generated. */
function toBlob({ format }: Parameters<Transform>[0]): ReturnType<Transform> {
  if (format !== 'binary') return undefined;
  const [alias] = stringToAST('type Bytes = Blob;') as [{ readonly type: ReturnType<Transform> }];
  return alias.type;
}

/** Generates the folder again unless its stamp shows that the same tools generated it from the same sources. */
async function refresh(folder: string, sources: readonly string[], generate: (target: string) => Promise<void>): Promise<void> {
  const target = join(root, folder);
  const stamp = join(target, 'sources.sha256');
  const hash = hashFiles([...sources, ...tools()]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  await generate(target);
  writeFileSync(stamp, hash);
  process.stdout.write(`generated ${folder}\n`);
}

/** Runs `prisma generate`. It does not use the schema engine but requires one to exist: any executable satisfies it (see docs/adr/0002). */
async function generatePrismaClient(name: SubgraphName): Promise<void> {
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' };
  const config = join(root, 'prisma', name, 'prisma.config.ts');
  await promisify(execFile)(process.execPath, [prismaCli, 'generate', '--config', config], { cwd: root, env });
}

function tools(): string[] {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const generators = readdirSync(folder).filter((file) => /^(generate|resolver-types|references)\.[jt]s$/.test(file));
  return [
    ...generators.map((file) => join(folder, file)),
    require.resolve('prisma/package.json'),
    require.resolve('openapi-typescript/package.json'),
  ];
}

function hashFiles(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex');
}

function typesConfig(name: SubgraphName): string {
  return join(root, 'subgraphs', name, 'resolver-types.json');
}
