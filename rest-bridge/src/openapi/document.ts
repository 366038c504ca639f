/** The OpenAPI 3.1 document of one version, generated from routes, operations and the GraphQL schema. No I/O. */
import { readOperations } from '../operations/operations.ts';
import { type RequiredScopesOf, createRequiredScopes } from '../operations/required-scopes.ts';
import type { Resource } from '../resources/resource.ts';
import type { ReaderContext } from '../query/request-reader.ts';
import type { Route } from '../routes/route.ts';
import { CHANGELOG } from '../versions/changelog.ts';
import { PAGING_SCHEMAS, toResponseSchema, toRequestBody } from './bodies.ts';
import { ERROR_SCHEMAS } from './error-schemas.ts';
import type { Components } from './examples.ts';
import { sharedParameters, toParameters } from './parameters.ts';
import { READ_RESPONSES, SHARED_HEADERS, toErrorResponses, toResponses } from './responses.ts';
import { toIncludedName, toResourceSchema } from './resource-schema.ts';
import { COMMON_SCHEMAS, type JsonSchema } from './schemas.ts';
import { toSecurity, toSecuritySchemes } from './security.ts';

/** An OpenAPI document. */
export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  readonly [more: string]: unknown;
}

/** An operation of an OpenAPI document. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly [more: string]: unknown;
}

/**
 * Returns the document. `address` is the public address of the bridge without a trailing slash; when it is empty, the server URL is relative
 * to that of the document.
 */
export function createOpenApi(routes: readonly Route[], context: ReaderContext, address = ''): OpenApi {
  const { version } = context;
  const schemas = collectSchemas(routes, context);
  const paths: Record<string, Record<string, Operation>> = {};
  const requiredScopesOf = createRequiredScopes(context.schema, readOperations());
  for (const route of routes)
    (paths[route.path] ??= {})[route.method.toLowerCase()] = toOperation(route, { context, schemas, requiredScopesOf });
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Trestle REST API',
      version: `${String(version)}.0.0`,
      description: describe(version),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${address}/v${String(version)}`, description: `Version ${String(version)}; also at \`/api/v${String(version)}\`.` }],
    security: [],
    tags: [...new Set(routes.map(tagOf))]
      .sort()
      .map((name) => ({ name, description: TAG_DESCRIPTIONS[name] ?? `Routes under \`/${name}\`.` })),
    paths,
    components: {
      securitySchemes: toSecuritySchemes(address),
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
  const releases = CHANGELOG.map((release) => `v${String(release.version)} (${release.releasedOn})`).join(', ');
  return [
    `API version ${String(version)}. Released versions: ${releases}. The path selects the version, or else \`API-Version\`,`,
    '`Accept: application/vnd.trestle.v<N>+json` or `?version=<N>`; the default is version 1.',
    'Every GET route also answers HEAD, and every path answers OPTIONS. Times are in UTC. All errors have the same envelope with an error code.',
    'Strings that must not be empty must not be blank either, and no string may contain U+0000.',
  ].join('\n');
}

interface DocumentContext {
  readonly context: ReaderContext;
  readonly schemas: Components;
  readonly requiredScopesOf: RequiredScopesOf;
}

function toOperation(route: Route, { context, schemas, requiredScopesOf }: DocumentContext): Operation {
  const resource: JsonSchema = 'operation' in route ? { $ref: `#/components/schemas/${route.resource.type}` } : {};
  const requestBody = toRequestBody(route, context, schemas);
  return {
    operationId: toOperationId(route),
    summary: route.summary,
    tags: [tagOf(route)],
    security: toSecurity(route, requiredScopesOf(route)),
    parameters: toParameters(route, context) as unknown as JsonSchema[],
    ...(requestBody && { requestBody }),
    responses: toResponses(route, schemas, toResponseSchema(route, resource, context)),
  };
}

/** Returns `getUsersByIdPostsByPostId` for `GET /users/{id}/posts/{postId}`: unique, because method and path are. */
function toOperationId({ method, path }: Route): string {
  const words = path
    .slice(1)
    .split(/[/.-]/)
    .map((part) => part.replace(/^\{(\w+)\}$/, (_, name: string) => `By${capitalized(name)}`));
  return method.toLowerCase() + (words.map(capitalized).join('') || 'Index');
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The descriptions of tags whose names are no beginning of a path. */
const TAG_DESCRIPTIONS: Readonly<Record<string, string>> = { index: 'The index of the API.', 'well-known': 'Routes under `/.well-known`.' };

function tagOf({ path }: Route): string {
  return path === '/' ? 'index' : (/^\/\.?([^/.]*)/.exec(path)?.[1] ?? '');
}

/** Returns the schemas of all resources of the routes, of those that `include` adds, and of everything shared. */
function collectSchemas(routes: readonly Route[], context: ReaderContext): Record<string, JsonSchema> {
  const resources = new Map<string, Resource>();
  const add = (resource: Resource, name = resource.type): void => {
    if (resources.has(name) || Object.keys(resource.fields).length === 0) return;
    resources.set(name, resource);
    // An included resource includes nothing itself.
    for (const { resource: related } of Object.values(resource.include)) add({ ...related(), include: {} }, toIncludedName(related()));
  };
  for (const route of routes) if ('operation' in route) add(route.resource);
  const own = [...resources]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, resource]) => [name, toResourceSchema(context, resource)] as const);
  return { ...Object.fromEntries(own), ...COMMON_SCHEMAS, ...PAGING_SCHEMAS, ...ERROR_SCHEMAS };
}

type ComponentKind = 'parameters' | 'headers' | 'schemas' | 'responses';

/** Removes components without a reference, and then those that only removed components referred to. Version 1 has no money objects. */
function keepUsed({
  components,
  paths,
}: {
  components: Record<ComponentKind, Record<string, JsonSchema>>;
  paths: object;
}): Record<ComponentKind, Record<string, JsonSchema>> {
  const text = JSON.stringify({ paths, components });
  const keep = (kind: ComponentKind) =>
    Object.fromEntries(Object.entries(components[kind]).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)));
  const kept = { parameters: keep('parameters'), headers: keep('headers'), schemas: keep('schemas'), responses: keep('responses') };
  const isStable = COMPONENT_KINDS.every((kind) => Object.keys(kept[kind]).length === Object.keys(components[kind]).length);
  return isStable ? kept : keepUsed({ components: kept, paths });
}

const COMPONENT_KINDS: readonly ComponentKind[] = ['parameters', 'headers', 'schemas', 'responses'];
