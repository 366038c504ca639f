/** Requests with hostile values in every parameter and body field of every operation that an OpenAPI document has. No I/O. */

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface Operation {
  readonly parameters: readonly (Parameter & { readonly $ref?: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: object }>> };
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const long = 'x'.repeat(4000);
const id = `usr_${'z'.repeat(26)}`;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** What URLs, numbers, dates, lists, ids, cursors and SQL may stumble over. */
const TEXTS: readonly string[] = [
  ...['', ' ', '\0', 'a\0b', '\u0001', '\u007f', '\uffff', '\u202e', '\u2028', '🙂', '漢'.repeat(300), long],
  ...['%', '%zz', '%%', '%_%', '_', '*', '\\', '\\\\', '/', '//', '..', '../..', '.', '?', '#', '&', ';', ',', ',,,', 'a,b,,c'],
  ...["'", '"', '`', "';--", '$1', '{}', '[]', '{{', '(', ')', '|', '!', ':*', "a' & !b", '<->', '{"a":1}', '"', '"v1"'],
  ...[
    'null',
    'undefined',
    'true',
    'TRUE',
    'NaN',
    'Infinity',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'id',
    '-id',
    '--id',
  ],
  ...['0', '-0', '-1', '1', '+1', ' 1', '01', '1.5', '1e3', '1e400', '0x10', '2147483647', '2147483648', '-2147483648', '-2147483649'],
  ...['999999999', '1000000', '1000001', '9007199254740993', '9'.repeat(30), '٣'],
  ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0099-12-31T00:00:00Z', '9999-12-31T23:59:59.999999999Z', '10000-01-01T00:00:00Z'],
  ...[
    '-000001-01-01T00:00:00Z',
    '+010000-01-01T00:00:00Z',
    '2016-12-31T23:59:60Z',
    '2026-01-01T24:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-01-01',
  ],
  ...[id, 'usr_', `pst_${'0'.repeat(26)}`, `usr_${'\u00e9'.repeat(26)}`, 'me'],
  ...[encode([]), encode({}), encode(null), encode('x'), encode(['x']), encode(['-createdAt,-id', '0000-01-01T00:00:00Z', 'x']), 'fg', '~'],
  ...[
    encode(['id', '\0']),
    encode(['id', '\ud800']),
    encode(['id', 1e300]),
    encode(['id', {}]),
    encode(['user', '\0']),
    encode(['post', 'x']),
  ],
];

/** As JSON, for what no JavaScript value stands for: half of a surrogate pair, numbers beyond ranges. */
const VALUES: readonly string[] = [
  ...TEXTS.map((text) => JSON.stringify(text)),
  ...['null', 'true', '0', '-0', '-1', '1', '1.5', '1e3', '1e9', '1E400', '2147483647', '2147483648', '-2147483649', '9007199254740993'],
  ...['[]', '{}', '[null]', '[[]]', '["\\u0000"]', '["\\ud800"]', '["a","a"]', '{"amount":1}', '{"amount":1e400,"currency":"EUR"}'],
  ...[
    '{"amount":null,"currency":null}',
    '{"amount":"1","currency":1}',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\u0000"',
    `["${'x","'.repeat(200)}"]`,
  ],
];

/** All requests, in the order of the document. `prefix` stands before each path, `ids` in place of `{id}` where another value is hostile. */
export function* hostileRequests(document: OpenApiDocument, prefix: string): Generator<HostileRequest> {
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations)) {
      const parameters = operation.parameters.map((one) => document.components.parameters[one.$ref?.split('/').at(-1) ?? ''] ?? one);
      const place = { method: method.toUpperCase(), path, prefix, parameters };
      for (const parameter of parameters) for (const value of TEXTS) yield* toParameterRequest(place, parameter, value);
      const media = operation.requestBody?.content['application/json'];
      for (const field of Object.keys(media?.schema.properties ?? {}))
        for (const value of VALUES) yield toBodyRequest(place, { example: media?.example ?? {}, field, value });
    }
}

interface Place {
  readonly method: string;
  readonly path: string;
  readonly prefix: string;
  readonly parameters: readonly Parameter[];
}

function* toParameterRequest({ method, path, prefix }: Place, parameter: Parameter, value: string): Generator<HostileRequest> {
  const target = `${prefix}${path}`;
  const plain = withIds(target);
  const needed: Readonly<Record<string, string>> = path === '/search' && parameter.name !== 'q' ? { q: 'a' } : {};
  switch (parameter.in) {
    case 'path':
      yield { method, path: withIds(target.replace(`{${parameter.name}}`, encodeURIComponent(value))), headers: {} };
      return;
    case 'query':
      yield { method, path: `${plain}?${new URLSearchParams({ ...needed, [parameter.name]: value }).toString()}`, headers: {} };
      return;
    case 'header':
      // The client itself refuses others.
      if (/^[\x20-\x7e]*$/.test(value))
        yield { method, path: `${plain}?${new URLSearchParams(needed).toString()}`, headers: { [parameter.name]: value } };
  }
}

function toBodyRequest(
  { method, path, prefix }: Place,
  { example, field, value }: { example: object; field: string; value: string },
): HostileRequest {
  const fields = Object.entries({ ...example, [field]: undefined }).map(
    ([name, usual]) => `${JSON.stringify(name)}:${name === field ? value : JSON.stringify(usual)}`,
  );
  return {
    method,
    path: withIds(`${prefix}${path}`),
    headers: {
      'content-type': 'application/json',
      'idempotency-key': `hostile-${field}-${Buffer.from(value).toString('base64url').slice(0, 100)}`,
    },
    body: `{${fields.join(',')}}`,
  };
}

function withIds(path: string): string {
  return path.replace(/\{\w+\}/g, id);
}
