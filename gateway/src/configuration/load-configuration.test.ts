import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfiguration } from './load-configuration.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-configuration-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const load = async (text: string | Buffer, { name = 'trestle.yaml', env = {} }: { name?: string; env?: Record<string, string> } = {}) => {
  await writeFile(join(folder, name), text);
  return loadConfiguration(join(folder, name), env);
};
/** Returns the faults without the path of the folder. */
const faultsOf = async (text: string | Buffer, options?: Parameters<typeof load>[1]) =>
  (await load(text, options)).faults.map((fault) => fault.replace(`${folder}/`, ''));

describe('loadConfiguration', () => {
  it('reads numbers, switches, lists and names of choices', async () => {
    const { values, faults } = await load(
      'limits: { maxDepth: 9, introspection: false }\nheaders: { forward: [x-a, x-b] }\nengine: { executor: objects }\n',
    );
    expect(faults).toEqual([]);
    expect(values).toEqual({ MAX_DEPTH: '9', INTROSPECTION: 'off', FORWARD_HEADERS: 'x-a,x-b', EXECUTOR: 'objects' });
  });

  it('reads mappings of names to strings, with variables in values; an empty value counts as unset', async () => {
    const text =
      'telemetry:\n  resourceAttributes: { a.b: "x, y=100%", c: "${EMPTY:}" }\n  headers: { Authorization: "Bearer ${TOKEN}" }\n';
    const { values, faults } = await load(text, { env: { TOKEN: 't' } });
    expect(faults).toEqual([]);
    expect(values).toEqual({ OTEL_RESOURCE_ATTRIBUTES: 'a.b=x%2C%20y%3D100%25', OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20t' });
    expect((await load('telemetry: { headers: "${ALL}", resourceAttributes: }\n', { env: { ALL: 'a=b' } })).values).toEqual({
      OTEL_EXPORTER_OTLP_HEADERS: 'a=b',
    });
  });

  it.each([
    ['a value that is no string', 'headers: { a: b, x: 1 }', 'headers.x: must be a string'],
    ['a line break in a header', 'headers: { a: b, x: "hunter2\\r\\nhost: y" }', 'headers.x: must have a value of 1 to 8192'],
    ['a header that frames the message', 'headers: { Content-Length: "1" }', 'headers.Content-Length: must not name a header'],
    ['a long attribute', `resourceAttributes: { a: ${'hunter2'.repeat(50)} }`, 'resourceAttributes.a: must have a value of at most 255'],
    ['a list', 'resourceAttributes: [a]', 'resourceAttributes: must be a mapping'],
    ['a string', 'resourceAttributes: hunter2', 'resourceAttributes: must be a mapping of names to strings'],
    ['an attribute without a name', 'resourceAttributes: { "": hunter2 }', 'resourceAttributes.: must have a name'],
    ['another protocol', 'protocol: thrift', 'protocol: must be one of http/json, http/protobuf, grpc'],
    ['an endpoint that is no URL', 'traces: { endpoint: "collector:4318" }', 'traces.endpoint: must be a URL'],
  ])('refuses telemetry with %s, at its line', async (_, setting, fault) => {
    const faults = (await faultsOf(`telemetry:\n  ${setting}\n`)).join();
    expect(faults).toMatch(/^trestle.yaml:2:\d+: telemetry\./);
    expect(faults).toContain(fault);
    expect(faults).not.toContain('hunter2');
  });

  it('reads rules for headers, whose names have no case', async () => {
    const text = `headers:
  request:
    - { propagate: X-Tenant, as: Tenant, default: "\${T:none}" }
    - { remove: Authorization }
subgraphs:
  Orders: { headers: { response: [{ insert: X-By, value: us }] } }
`;
    const { headerRules, faults } = await load(text);
    expect(faults).toEqual([]);
    expect(headerRules.request.all).toEqual([
      { kind: 'propagate', name: 'x-tenant', as: 'tenant', fallback: 'none' },
      { kind: 'remove', name: 'authorization' },
    ]);
    expect([...headerRules.response.bySubgraph]).toEqual([['orders', [{ kind: 'insert', name: 'x-by', value: 'us' }]]]);
  });

  it.each([
    ['no action', 'request', '{ as: a }', 'must have one of'],
    ['two actions', 'request', '{ insert: a, value: b, remove: c }', 'must have one of'],
    ['an unknown key', 'request', '{ propagates: a }', '`propagate`?'],
    ['a key of another action', 'request', '{ remove: a, value: b }', 'must not have `value` beside `remove`'],
    ['an insertion without a value', 'request', '{ insert: a }', 'must have `value` or `claim` beside `insert`'],
    ['no mapping', 'request', 'x-tenant', 'must be a mapping'],
    ['a name with a space', 'request', '{ propagate: "a b" }', 'must be the name of a header'],
    ['a secret as its name', 'request', '{ propagate: "Bearer hunter2" }', 'must be the name of a header'],
    ['a hop-by-hop header', 'request', '{ propagate: Connection }', 'must not name `Connection`, which belongs to one message'],
    ['a hop-by-hop header as the new name', 'request', '{ propagate: a, as: Transfer-Encoding }', 'must not name `Transfer-Encoding`'],
    ['a length', 'request', '{ insert: Content-Length, value: "1" }', 'must not name `Content-Length`'],
    ['a credential that is inserted', 'request', '{ insert: Authorization, value: hunter2 }', 'by itself; it can only be removed'],
    ['the removal of the content type', 'request', '{ remove: Content-Type }', 'must not name `Content-Type`'],
    [
      'the removal of what every fetch has',
      'request',
      '{ remove: Accept }',
      'must not name `Accept`, which every request to a subgraph has',
    ],
    ['a line break', 'request', '{ insert: a, value: "hunter2\\r\\nx: y" }', 'visible ASCII'],
    ['a hop-by-hop header of a response', 'response', '{ propagate: Upgrade }', 'must not name `Upgrade`'],
    ['CORS of a subgraph', 'response', '{ propagate: Access-Control-Allow-Origin }', 'which the gateway decides for its own responses'],
  ])('refuses a rule with %s', async (_, direction, rule, fault) => {
    const faults = (await faultsOf(`headers:\n  ${direction}:\n    - ${rule}\n`)).join();
    expect(faults).toMatch(new RegExp(`^trestle.yaml:3:\\d+: headers.${direction}\\[0\\]`));
    expect(faults).toContain(fault);
    expect(faults).not.toContain('hunter2');
  });

  it('refuses more than 100 rules', async () => {
    expect(await faultsOf(`headers: { request: [${'{ remove: a },'.repeat(101)}] }`)).toEqual([
      expect.stringContaining('at most 100 rules'),
    ]);
  });

  it('reads JSON, with a key for its schema', async () => {
    const { values, faults } = await load('{\n\t"$schema": "./trestle.schema.json",\n\t"limits": { "maxDepth": 9 }\n}\n', {
      name: 'trestle.json',
    });
    expect([values, faults]).toEqual([{ MAX_DEPTH: '9' }, []]);
  });

  it('reads a module of JavaScript, whose faults have no line', async () => {
    const module = await load('export default { limits: { maxDepth: 4 + 5 }, server: { prot: 1 } };', { name: 'a.mjs' });
    expect(module.values).toEqual({ MAX_DEPTH: '9' });
    expect(module.faults).toEqual([`${folder}/a.mjs: server.prot: is unknown; did you mean \`port\`?`]);
    expect(await faultsOf('export const a = 1;', { name: 'b.mjs' })).toEqual(['b.mjs: must export an object as its default']);
  });

  it.each(['c.ts', 'c.mts'])(
    'reads a module of TypeScript on every supported Node.js, with the modules that it imports: %s',
    async (name) => {
      await writeFile(join(folder, 'depth.ts'), 'export enum Depth { usual = 9 }\n');
      const module = [
        "import { Depth } from './depth.ts';",
        'interface Limits { readonly maxDepth: number }',
        'const limits: Limits = { maxDepth: await Promise.resolve(Depth.usual as number) };',
        'export default { limits } satisfies { limits: Limits };',
      ];
      expect(await load(module.join('\n'), { name })).toMatchObject({ values: { MAX_DEPTH: '9' }, faults: [] });
      expect(await faultsOf('export default {', { name })).toEqual([expect.stringMatching(/^c\.m?ts: ParseError: .*c\.m?ts:1/s)]);
    },
  );

  it('replaces variables, with a default after a colon', async () => {
    const text =
      'limits: { maxDepth: "${DEPTH}", maxCost: "${COST:7:}" }\nserver: { host: "${HOST:127.0.0.1}", graphiql: "${UI:false}" }\n';
    const { values, faults } = await load(text.replace('7:', '7'), { env: { DEPTH: '8', HOST: '' } });
    expect([values, faults]).toEqual([{ MAX_DEPTH: '8', MAX_COST: '7', HOST: '127.0.0.1', GRAPHIQL: 'off' }, []]);
    expect((await load('server: { host: "$${A}" }')).values).toEqual({ HOST: '${A}' });
  });

  it('does not search the values of variables for variables', async () => {
    expect((await load('server: { host: "${A}" }', { env: { A: '${B}', B: 'no' } })).values).toEqual({ HOST: '${B}' });
  });

  it('counts an empty value as unset, and a section without settings as empty', async () => {
    expect(await load('server:\nlog: { level: "${LEVEL:}" }\n')).toMatchObject({ values: {}, faults: [] });
    const text =
      'limits: { maxDepth: "", introspection: "" }\nheaders: { forward: "" }\ntelemetry: { headers: "", traces: { ratio: "" } }\n';
    expect(await load(text)).toMatchObject({ values: {}, faults: [] });
  });

  it.each([
    ['an unknown section', 'serve: {}', 'trestle.yaml:1:1: serve: is unknown; did you mean `server`?'],
    ['an unknown setting', 'server:\n  zzz: 1', 'trestle.yaml:2:3: server.zzz: is unknown'],
    ['a value that is too large', 'limits:\n  maxDepth: 1001', 'trestle.yaml:2:13: limits.maxDepth: must be an integer from 1 to 1000'],
    [
      'a number in quotes',
      'limits: { maxDepth: "12" }',
      'trestle.yaml:1:21: limits.maxDepth: must be an integer from 1 to 1000, without quotes',
    ],
    [
      'a number with a unit',
      'traffic: { timeoutMs: 10s }',
      'traffic.timeoutMs: must be an integer from 100 to 300000, in milliseconds, without a unit behind it',
    ],
    ['a number with separators', 'limits: { maxCost: 1_000 }', 'limits.maxCost: must be an integer from 1 to 1000000000, of digits only'],
    ['a number for a choice', 'log: { level: 1 }', 'log.level: must be one of debug, info, warn, error, silent'],
    ['a section of another gateway', 'traffic_shaping: {}', 'traffic_shaping: is unknown; it is a name of another gateway: the settings'],
    ['a setting in a section that other gateways have too', 'limits: { router: {} }', 'limits.router: is unknown; it is a name of another'],
    ['a name that resembles none', 'docs: {}', 'trestle.yaml:1:1: docs: is unknown'],
    ['a key with a no-break space', 'limits:\n\u00a0maxDepth: 1', 'trestle.yaml:2:1: \\u{a0}maxDepth: is unknown'],
    ['a fraction', 'limits: { maxDepth: 1.5 }', 'trestle.yaml:1:21: limits.maxDepth: must be an integer'],
    ['a number beyond 2^53', 'limits: { maxCost: 1e300 }', 'trestle.yaml:1:20: limits.maxCost: must be an integer'],
    ['on for a switch', 'limits: { introspection: on }', 'trestle.yaml:1:26: limits.introspection: must be true or false'],
    ['an unknown choice', 'limits: { costMode: warn }', 'trestle.yaml:1:21: limits.costMode: must be one of enforce, measure'],
    ['a number for a string', 'server: { host: 1 }', 'trestle.yaml:1:17: server.host: must be a string'],
    ['a mapping for a setting', 'server: { host: { a: 1 } }', 'trestle.yaml:1:17: server.host: must be a string'],
    ['a string for a list', 'headers: { forward: x-a }', 'trestle.yaml:1:21: headers.forward: must be a list of strings'],
    [
      'an item with a comma',
      'headers: { forward: ["x,y"] }',
      'trestle.yaml:1:22: headers.forward[0]: must not contain white space or commas',
    ],
    [
      'a header that must not be forwarded',
      'headers: { forward: [Host] }',
      'headers.forward: must not name `Host`, which belongs to one message or connection',
    ],
    ['a setting without a value', 'server:\n  host:\n', 'server.host: has no value'],
    ['a list for a section', 'server: [1]', 'trestle.yaml:1:9: server: must be a mapping of keys to values'],
    ['a string for the file', 'hello', 'trestle.yaml:1:1: must be a mapping of keys to values'],
    ['a key twice', 'server: {}\nserver: {}', 'trestle.yaml:2:1: server: is a duplicate key'],
    ['a subgraph twice', 'subgraphs: { a: {}, A: {} }', 'subgraphs.A: is a duplicate: names that differ only in case are equal'],
    [
      'a bad address of a subgraph',
      'subgraphs: { a: { url: "ftp://x" } }',
      'subgraphs.a.url: must be a URL that starts with http:// or https://',
    ],
    ['a missing variable', 'log: { level: "${NOT_SET}" }', 'log.level: needs the environment variable NOT_SET, which is not set'],
    ['a variable in a default', 'log: { level: "${A:${B}}" }', 'log.level: must have no variable in the default of the variable A'],
    ['a default of a shell', 'server: { host: "${HOST:-::1}" }', 'server.host: must have the default of the variable HOST right behind'],
    ['a variable without an end', 'log: { level: "${A" }', 'log.level: must have variables as `${NAME}` or `${NAME:default}`'],
    ['a tag', 'server: !!js/function "a"', 'tags are not supported'],
    ['a merge key', 'a: &a {}\nserver: { <<: *a }', 'server.<<: is unknown: mappings cannot be merged'],
    ['an alias without an anchor', 'server: *nothing', 'server: is an alias without an anchor'],
    ['two documents', 'server: {}\n---\nserver: {}', 'a file must have one document'],
    ['a tab', 'server:\n\thost: a', 'tabs must not be used for indentation'],
    ['a missing bracket', 'server: { host: a', 'a bracket is missing'],
  ])('reports %s', async (_, text, fault) => {
    expect((await faultsOf(text)).join('\n')).toContain(fault);
  });

  it('reports every fault at once, in the order of the file', async () => {
    const faults = await faultsOf('limits:\n  maxDepth: 0\n  maxCost: x\nlog:\n  level: loud\nnope: 1\n');
    expect(faults.map((fault) => fault.split(': ')[0])).toEqual([
      'trestle.yaml:2:13',
      'trestle.yaml:3:12',
      'trestle.yaml:5:10',
      'trestle.yaml:6:1',
    ]);
  });

  it('reports the first place where the text is not well-formed, and says that a variable between brackets must be quoted', async () => {
    expect(await faultsOf('limits: { maxDepth: 9\nlog: { format: text }\nserver: { port: 1 }\n')).toHaveLength(1);
    expect(await faultsOf('telemetry:\n  headers: { authorization: ${TOKEN}, x-tenant: a }\nlog: { format: text }\n')).toEqual([
      'trestle.yaml:2:30: a variable must be quoted between brackets: "${NAME}"',
    ]);
  });

  it('counts faults beyond the first 50', async () => {
    const faults = await faultsOf(Array.from({ length: 60 }, (_, i) => `x${String(i)}: 1`).join('\n'));
    expect([faults.length, faults.at(-1)]).toEqual([51, 'trestle.yaml: 10 more faults']);
  });

  it.each([
    ['a value of the wrong kind', 'limits: { maxDepth: hunter2 }'],
    ['an address', 'rateLimits: { redisUrl: "http://user:hunter2@h" }'],
    ['a broken file', 'rateLimits: { redisUrl: "redis://user:hunter2@h" "hunter2" ]'],
    ['a broken escape sequence', 'rateLimits: { redisUrl: "hunter2\\q" }'],
    ['a default of a variable', 'rateLimits: { redisUrl: "${URL:hunter2}" }'],
    ['a tag', 'log: { level: !hunter2 info }'],
    ['a list', 'headers: { forward: [hunter2 hunter2] }'],
  ])('never quotes a value: %s', async (_, text) => {
    const faults = await faultsOf(text, { env: { SECRET: 'hunter2' } });
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.join()).not.toContain('hunter2');
  });

  it('follows aliases', async () => {
    const { values, faults } = await load('subgraphs:\n  a: &a { url: "http://h/" }\n  b: *a\n');
    expect([values, faults]).toEqual([{ SUBGRAPH_URL_A: 'http://h/', SUBGRAPH_URL_B: 'http://h/' }, []]);
  });

  it.each([
    ['a file of more than 256 KB', `# ${'x'.repeat(300_000)}`, 'exceeds the limit of 262144 bytes'],
    ['a file that is not UTF-8', Buffer.from([0x61, 0xff, 0xfe]), 'is not valid UTF-8'],
    ['lists in lists', `server: ${'['.repeat(100_000)}`, 'is nested more than 64 levels deep'],
    ['lists in lists by dashes', `server:\n  ${'- '.repeat(100_000)}`, 'is nested more than 64 levels deep'],
    ['keys in keys', '? '.repeat(100_000), 'is nested more than 64 levels deep'],
    ['lists in lists by indentation', Array.from({ length: 700 }, (_, i) => `${' '.repeat(i)}-`).join('\n'), 'must be a mapping'],
    ['mappings in mappings', `server: ${'{a: '.repeat(50_000)}`, 'is nested more than 64 levels deep'],
    ['many aliases', `a: &a 1\nb: [${'*a,'.repeat(1000)}]`, 'has more than 100 aliases'],
    [
      'aliases of aliases',
      `${Array.from({ length: 30 }, (_, i) => `a${String(i + 1)}: &a${String(i + 1)} [*a${String(i)},*a${String(i)}]`)
        .join('\n')
        .replaceAll('*a0', '1')}\nheaders: { forward: *a30 }`,
      'headers.forward',
    ],
    ['many keys', `server:\n${Array.from({ length: 20_000 }, (_, i) => `  k${String(i)}: 1`).join('\n')}`, 'must have at most 1000 keys'],
    ['an alias of itself', 'subgraphs: &a { x: *a }', 'trestle.yaml'],
  ])('refuses %s within 5 s of processor time', async (_, text, fault) => {
    const began = process.cpuUsage();
    expect((await faultsOf(text)).join('\n')).toContain(fault);
    expect(process.cpuUsage(began).user).toBeLessThan(5_000_000);
  });

  it('reports a file that does not exist, a folder, and a named pipe', async () => {
    expect((await loadConfiguration(join(folder, 'none.yaml'), {})).faults).toEqual([`${folder}/none.yaml: does not exist`]);
    expect((await loadConfiguration(folder, {})).faults).toEqual([`${folder}: is not a file`]);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect((await loadConfiguration(join(folder, 'pipe'), {})).faults).toEqual([`${folder}/pipe: is not a file`]);
  });
});
