/** What the head of a response in parts, or in events, has of the subgraphs that have answered before it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const sources = {
  harbours: {
    sdl: 'type Query { harbour: Harbour } type Mutation { enter: Harbour } type Harbour @key(fields: "code") { code: ID! }',
    resolvers: { Query: { harbour: () => ({ code: 'HAM' }) }, Mutation: { enter: () => ({ code: 'HAM' }) } },
  },
  tides: {
    sdl: 'type Harbour @key(fields: "code") { code: ID! tide: Float! }',
    resolvers: { Harbour: { __resolveReference: (key: object) => key, tide: () => 1.5 } },
  },
};
const RULES = 'headers:\n  response:\n    - { propagate: Set-Cookie }\n    - { propagate: X-Berth }\n';

let home: string;
let federation: Federation;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-parts-'));
  const file = join(home, 'trestle.yaml');
  await writeFile(file, RULES);
  federation = await startFederation(sources, { env: { MAX_DEFERRED: '10' }, args: ['--config', file] });
  federation.intercept = ({ subgraph, query }, _, response) => {
    response.setHeader('set-cookie', [`${subgraph}=1`, `${query.includes('mutation') ? 'entered' : 'seen'}=1`]);
    response.setHeader('x-berth', subgraph);
  };
});
afterAll(async () => {
  await federation.stop();
  await rm(home, { recursive: true, force: true });
});

const ask = async (query: string, accept: string) => {
  const { status, headers, text } = await request(federation.url, { method: 'POST', body: { query }, headers: { accept } });
  return { status, type: headers.get('content-type') ?? '', cookies: headers.getSetCookie(), berth: headers.get('x-berth'), text };
};

describe('the rules for headers of subgraphs', () => {
  const DEFERRED = '{ harbour { code ... @defer { tide } } }';

  it.each([
    ['multipart/mixed;incrementalSpec=v0.2, application/json', 'multipart/mixed'],
    ['multipart/mixed;deferSpec=20220824, application/json', 'multipart/mixed'],
    ['text/event-stream', 'text/event-stream'],
  ])('apply to the fetches before the first part (Accept: %s)', async (accept, expected) => {
    const { type, cookies, berth, text } = await ask(DEFERRED, accept);
    expect(text).toContain('"hasNext":false');
    expect([type.split(';')[0], berth?.split(', ')[0], cookies]).toEqual([expected, 'harbours', expect.arrayContaining(['harbours=1'])]);
  });

  it('apply to a mutation whose result is an event or is delivered in parts', async () => {
    for (const accept of ['text/event-stream', 'multipart/mixed;incrementalSpec=v0.2, application/json'])
      expect(
        (await ask(`mutation { enter { code ${accept.startsWith('text') ? '' : '... @defer { tide }'} } }`, accept)).cookies,
      ).toContain('entered=1');
  });

  it('apply to all fetches of a whole result', async () => {
    expect(await ask(DEFERRED, 'application/json')).toMatchObject({
      cookies: ['harbours=1', 'seen=1', 'tides=1', 'seen=1'],
      berth: 'harbours, tides',
    });
  });
});
