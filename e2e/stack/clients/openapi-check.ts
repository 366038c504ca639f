/** Holds every answer of the bridge against the bridge's own OpenAPI document: an answer that is not described is a fault. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type Reply, request } from './client.ts';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, DescribedResponse>> };
}

interface DescribedOperation {
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

interface DescribedResponse {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, unknown>>;
}

export interface Exchange {
  readonly method: string;
  /** With its version prefix and query. */
  readonly path: string;
  readonly reply: Reply;
}

export type OpenApiCheck = (exchange: Exchange) => Promise<void>;

/** `rest` is the bridge's address. What it gives throws for an answer that the document does not describe. */
export function createOpenApiCheck(rest: string): OpenApiCheck {
  const documents = new Map<string, Promise<Checker>>();
  return async ({ method, path, reply }) => {
    const version = reply.headers.get('api-version') ?? '1';
    const checker =
      documents.get(version) ??
      request(`${rest}/v${version}/openapi.json`, { method: 'GET' }).then(({ body }) => createChecker(body as Document));
    documents.set(version, checker);
    (await checker)({ method, path, reply });
  };
}

type Checker = (exchange: Exchange) => void;

function createChecker(document: Document): Checker {
  // The document is checked by its own tests. Checking it takes as long here as compiling it.
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  // Under Node's rules for modules of the old kind the function stands one level deeper than its types say.
  (formats as unknown as { default: (ajv: Ajv2020) => void }).default(ajv);
  ajv.addSchema(closeObjects(document) as object, 'openapi');
  const compiled = new Map<string, ValidateFunction>();
  const validate = (pointer: string, body: unknown): string | undefined => {
    const check = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
    compiled.set(pointer, check);
    return check(body) ? undefined : ajv.errorsText(check.errors);
  };
  const patterns = Object.keys(document.paths)
    // A fixed segment beats a variable one.
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`) }));

  return ({ method, path, reply: { status, headers, body } }) => {
    const pathname = path.replace(/\?.*/s, '').replace(/^(\/api)?(\/v\d+)?(?=\/)/, '');
    const found = patterns.find(({ pattern }) => pattern.test(pathname))?.path;
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = found === undefined ? undefined : document.paths[found]?.[verb];
    // Of what is not there the document says nothing.
    if (found === undefined || !operation) return;
    const where = `${method} ${found} ${String(status)}`;
    const described = operation.responses[String(status)];
    if (!described) throw new Error(`${where} is not in the OpenAPI document`);
    const shared = described.$ref?.split('/').at(-1);
    const { content } = shared === undefined ? described : (document.components.responses[shared] ?? {});
    const type = (headers.get('content-type') ?? '').split(';')[0] ?? '';
    if (type === '' || status === 206) return;
    if (!content?.[type]) throw new Error(`${where} as ${type} is not in the OpenAPI document`);
    if (body === undefined || !type.endsWith('json')) return;
    const base =
      shared === undefined ? `/paths/${escapePointer(found)}/${verb}/responses/${String(status)}` : `/components/responses/${shared}`;
    const fault = validate(`${base}/content/${escapePointer(type)}/schema`, body);
    if (fault) throw new Error(`${where} does not fit the OpenAPI document: ${fault}`);
  };
}

/** Clients must expect further fields; we must describe each that we send. */
function closeObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeObjects);
  if (typeof value !== 'object' || value === null) return value;
  const closed = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, name === 'allOf' ? inner : closeObjects(inner)]));
  return closed['type'] === 'object' && 'properties' in closed && !('additionalProperties' in closed)
    ? { ...closed, additionalProperties: false }
    : closed;
}

function escapePointer(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
