/** The OpenAPI 3.1 document of one version, made from rows, operations and the schema. No I/O. */
import type { Resource } from '../reply/resource.ts';
import type { ReaderContext } from '../query/reading.ts';
import type { Row } from '../routes/row.ts';
import { CHANGELOG } from '../versions/changelog.ts';
import { PAGING_SCHEMAS, toAnswerSchema, toRequestBody } from './bodies.ts';
import type { Components } from './examples.ts';
import { sharedParameters, toParameters } from './parameters.ts';
import { ERROR_SCHEMAS, READ_RESPONSES, SHARED_HEADERS, toErrorResponses, toResponses } from './responses.ts';
import { toIncludedName, toResourceSchema } from './resource-schema.ts';
import { COMMON_SCHEMAS, type JsonSchema } from './schemas.ts';

export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  readonly [more: string]: unknown;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly [more: string]: unknown;
}

const BEARER = { bearer: [] };

/** `address` is the bridge's own, without a slash at the end; empty makes the server's URL relative to the document's. */
export function createOpenApi(all: readonly Row[], context: ReaderContext, address = ''): OpenApi {
  const { version } = context;
  // What is not implemented is no part of the promise until it works.
  const rows = all.filter(({ answers }) => answers.shape !== 'announced');
  const schemas = collectSchemas(rows, context);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const row of rows) (paths[row.path] ??= {})[row.method.toLowerCase()] = toOperation(row, { context, schemas });
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Trestle REST API',
      version: `${String(version)}.0.0`,
      description: describe(version),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: `${address}/v${String(version)}`, description: `Version ${String(version)}; the same under \`/api/v${String(version)}\`.` },
    ],
    security: [],
    tags: [...new Set(rows.map(tagOf))]
      .sort()
      .map((name) => ({ name, description: name === 'index' ? 'Where everything is.' : `Everything under \`/${name}\`.` })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token: see `POST /auth/login`. It is good for 15 minutes.',
        },
      },
      parameters: sharedParameters(version) as unknown as Record<string, JsonSchema>,
      headers: SHARED_HEADERS,
      schemas,
      responses: { ...READ_RESPONSES, ...toErrorResponses() },
    },
  };
  const { securitySchemes, ...shared } = document.components;
  return { ...document, components: { securitySchemes, ...keepUsed({ components: shared, paths }) } };
}

function describe(version: number): string {
  const others = CHANGELOG.map((release) => `v${String(release.version)} of ${release.releasedOn}`).join(', ');
  return [
    `Version ${String(version)}. There are ${others}; a version is named by the path, by \`API-Version\`, by`,
    '`Accept: application/vnd.trestle.v<N>+json` or by `?version=<N>`, and version 1 is meant when nothing names one.',
    'GET is also there by HEAD, and every path by OPTIONS. Times are in UTC. Errors come in one envelope, each with a code.',
  ].join('\n');
}

interface Parts {
  readonly context: ReaderContext;
  readonly schemas: Components;
}

function toOperation(row: Row, { context, schemas }: Parts): Operation {
  const resource: JsonSchema = 'operation' in row ? { $ref: `#/components/schemas/${row.resource.type}` } : {};
  const requestBody = toRequestBody(row, context, schemas);
  return {
    operationId: toOperationId(row),
    summary: row.summary,
    tags: [tagOf(row)],
    // An anonymous caller sees what is public, and a known one more.
    security: row.needsCaller ? [BEARER] : row.ignoresCredential ? [{}] : [BEARER, {}],
    parameters: toParameters(row, context) as unknown as JsonSchema[],
    ...(requestBody && { requestBody }),
    responses: toResponses(row, schemas, toAnswerSchema(row, resource, context.version)),
  };
}

/** `GET /users/{id}/posts/{postId}` is `getUsersByIdPostsByPostId`: unique, since a row is. */
function toOperationId({ method, path }: Row): string {
  const words = path
    .slice(1)
    .split(/[/.-]/)
    .map((part) => part.replace(/^\{(\w+)\}$/, (_, name: string) => `By${capitalized(name)}`));
  return method.toLowerCase() + (words.map(capitalized).join('') || 'Index');
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function tagOf({ path }: Row): string {
  return path === '/' ? 'index' : (path.split('/')[1]?.replace(/\..*/, '') ?? '');
}

/** Every resource that a row shows, and all that may come along with it. */
function collectSchemas(rows: readonly Row[], context: ReaderContext): Record<string, JsonSchema> {
  const resources = new Map<string, Resource>();
  const add = (resource: Resource, name = resource.type): void => {
    if (resources.has(name) || Object.keys(resource.fields).length === 0) return;
    resources.set(name, resource);
    // What is included includes nothing itself.
    for (const { resource: related } of Object.values(resource.include)) add({ ...related(), include: {} }, toIncludedName(related()));
  };
  for (const row of rows) if ('operation' in row) add(row.resource);
  const own = [...resources]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, resource]) => [name, toResourceSchema(context, resource)] as const);
  return { ...Object.fromEntries(own), ...COMMON_SCHEMAS, ...PAGING_SCHEMAS, ...ERROR_SCHEMAS };
}

type Kind = 'parameters' | 'headers' | 'schemas' | 'responses';

/** What nobody refers to is left out: version 1 has no money objects. What only something left out refers to goes with it. */
function keepUsed({
  components,
  paths,
}: {
  components: Record<Kind, Record<string, JsonSchema>>;
  paths: object;
}): Record<Kind, Record<string, JsonSchema>> {
  const text = JSON.stringify({ paths, components });
  const keep = (kind: Kind) =>
    Object.fromEntries(Object.entries(components[kind]).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)));
  const kept = { parameters: keep('parameters'), headers: keep('headers'), schemas: keep('schemas'), responses: keep('responses') };
  const isStable = KINDS.every((kind) => Object.keys(kept[kind]).length === Object.keys(components[kind]).length);
  return isStable ? kept : keepUsed({ components: kept, paths });
}

const KINDS: readonly Kind[] = ['parameters', 'headers', 'schemas', 'responses'];
