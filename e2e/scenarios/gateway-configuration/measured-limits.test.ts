/** Operations above limits with `LIMITS_MODE=measure`, in both engines: they are executed, counted and logged. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const node = () => ({ id: '1' });
const SOURCES = {
  nodes: {
    sdl: `type Query { node(in: In): Node } type Node { id: ID node: Node } input In { in: In }`,
    resolvers: { Query: { node }, Node: { node } },
  },
};
const LIMITS = { MAX_DEPTH: '2', MAX_ALIASES: '1', MAX_ROOT_FIELDS: '1', MAX_INPUT_DEPTH: '1' };
const repeat = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join(' ');

describe.each(['trestle', 'apollo'])('with limits.mode: measure, the engine %s', (engine) => {
  let federation: Federation;
  beforeAll(async () => {
    const env = { ...LIMITS, LIMITS_MODE: 'measure' };
    federation = await startFederation(SOURCES, { args: ['--auth', 'off', '--engine', engine], env });
  });
  afterAll(() => federation.stop());

  const logged = (operation: string) =>
    federation.gateway.lines
      .filter((line) => line.includes('"an operation above its limits is executed"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line['operation'] === operation);
  const readCounts = async () => {
    const text = await (await fetch(`${federation.gateway.url}/metrics`)).text();
    return text.split('\n').filter((line) => line.startsWith('trestle_operations_over_limit_total'));
  };

  it('executes an operation above its limits, counts it by each, and names them in one line of the log', async () => {
    const { status, body } = await federation.ask('query Many { a: node { node { id } } b: node { id } }');
    expect([status, body]).toEqual([200, { data: { a: { node: { id: '1' } }, b: { id: '1' } } }]);
    await until(() => Promise.resolve(logged('Many').length === 1));
    expect(logged('Many')[0]).toMatchObject({
      level: 'warn',
      requestId: expect.any(String),
      limits: 'maxDepth=3 maxAliases=2 maxRootFields=2',
    });
    expect(await readCounts()).toEqual(
      ['maxDepth', 'maxAliases', 'maxRootFields'].map(
        (limit) => `trestle_operations_over_limit_total{operation="Many",limit="${limit}"} 1`,
      ),
    );
  });

  it('measures the variables of each request', async () => {
    const query = 'query Nested($in: In) { node(in: $in) { id } }';
    for (const value of [{ in: {} }, { in: { in: {} } }, {}]) expect((await federation.ask(query, { in: value })).status).toBe(200);
    await until(() => Promise.resolve(logged('Nested').length === 2));
    expect(logged('Nested').map((line) => line['limits'])).toEqual(['maxInputDepth=2', 'maxInputDepth=3']);
  });

  it('refuses an operation above a ceiling, and above limits that are not measured', async () => {
    const deep = `${'{ node '.repeat(49)}{ ...F }${' }'.repeat(49)}`;
    const { status, body } = await federation.ask(`${deep} fragment F on Node { node { id } }`);
    expect([status, body.errors?.[0]?.message]).toEqual([400, 'Query depth 51 exceeds the limit of 50.']);
    expect((await federation.ask(`{ ${repeat(2000, (i) => `a${String(i)}: node { id }`)} }`)).status).toBe(400);
  });

  it('executes the deepest operation that it allows', async () => {
    const { status, body } = await federation.ask(`query Deep ${'{ node '.repeat(49)}{ id }${' }'.repeat(49)}`);
    expect([status, body.errors]).toEqual([200, undefined]);
  });
});

describe('limits.mode', () => {
  it('must be enforce or measure', async () => {
    await expect(startFederation(SOURCES, { env: { LIMITS_MODE: 'warn' } })).rejects.toThrow(
      'LIMITS_MODE: must be one of enforce, measure',
    );
  });
});
