/** A gateway with one graph of Apollo Uplink and one of a file: what happens to one does not concern the other. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { compose, startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';

interface Asked {
  readonly variables: { readonly ref: string; readonly apiKey: string; readonly ifAfterId: string | null };
}

const sourceOf = (field: string) => compose({ one: { sdl: `type Query { ${field}: Int }` } }, {});
const toResult = (id: string, supergraphSdl: string) =>
  JSON.stringify({ data: { routerConfig: { __typename: 'RouterConfigResult', id, minDelaySeconds: 0, supergraphSdl } } });

let folder: string;
let uplink: Server;
let gateway: RunningProcess;
/** What Uplink responds. */
let body: string;
const asked: Asked['variables'][] = [];
let sdl: { first: string; second: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-uplink-'));
  sdl = { first: await sourceOf('first'), second: await sourceOf('second') };
  body = toResult('1', sdl.first);
  uplink = createServer((incoming, response) => {
    void json(incoming).then((sent) => {
      asked.push((sent as Asked).variables);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
    });
  }).listen(0, '127.0.0.1');
  await once(uplink, 'listening');
  const endpoint = `http://127.0.0.1:${String((uplink.address() as AddressInfo).port)}/`;
  const write = (name: string, content: string) => writeFile(join(folder, name), content);
  await write('pets.graphql', await sourceOf('pet'));
  await write('pets.yaml', 'supergraph: { file: pets.graphql }');
  await write(
    'shop.yaml',
    `supergraph: { pollIntervalMs: 100, uplink: { graphRef: shop@current, key: 'service:shop:secret', endpoints: ['${endpoint}'] } }`,
  );
  await write('trestle.yaml', 'graphs: { shop: { path: /shop, config: shop.yaml }, pets: { path: /pets, config: pets.yaml } }');
  gateway = await startGateway(['--config', join(folder, 'trestle.yaml'), '--port', '0', '--auth', 'off']);
});
afterAll(async () => {
  await gateway.end('SIGTERM');
  uplink.closeAllConnections();
  await new Promise((resolve) => uplink.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const readHashes = async () => {
  const { body: details } = await request(`${gateway.url}/readyz`, { method: 'GET' });
  return (details as { supergraphs: { shop: string; pets: string } }).supergraphs;
};
const isCurrent = async (graph: string) => (await readMetric(gateway.url, `trestle_supergraph_current{graph="${graph}"}`)) === 1;
const fieldsOf = async (graph: string) => {
  const query = '{ __schema { queryType { fields { name } } } }';
  const { body: result } = await request(`${gateway.url}/${graph}/graphql`, { method: 'POST', body: { query } });
  return (result as { data: { __schema: { queryType: { fields: { name: string }[] } } } }).data.__schema.queryType.fields.map(
    ({ name }) => name,
  );
};

describe('a graph of Apollo Uplink beside one of a file', () => {
  it('is asked for by its own reference and key, and then by the id of what it has', async () => {
    await until(() => Promise.resolve(asked.length >= 2));
    const [first, second] = asked;
    expect(first).toEqual({ ref: 'shop@current', apiKey: 'service:shop:secret', ifAfterId: null });
    expect(second).toEqual({ ...first, ifAfterId: '1' });
    expect([await fieldsOf('shop'), await fieldsOf('pets')]).toEqual([['first'], ['pet']]);
  });

  it.each([
    ['what is no result', '<html>'],
    ['an error', JSON.stringify({ data: { routerConfig: { __typename: 'FetchError', code: 'AUTHENTICATION_FAILED' } } })],
    ['a supergraph that is cut off', toResult('2', 'schema @link(')],
  ])('stays while Uplink responds with %s, and so does the other one, which counts as current', async (_, given) => {
    const before = await readHashes();
    body = given;
    await until(async () => !(await isCurrent('shop')));
    expect([await readHashes(), await isCurrent('pets')]).toEqual([before, true]);
    expect(await fieldsOf('shop')).toEqual(['first']);
    body = toResult('1', sdl.first);
    await until(() => isCurrent('shop'));
  });

  it('is replaced alone, also by an older one', async () => {
    const before = await readHashes();
    body = toResult('3', sdl.second);
    await until(async () => (await fieldsOf('shop'))[0] === 'second');
    expect((await readHashes()).pets).toBe(before.pets);
    body = toResult('1', sdl.first);
    await until(async () => (await fieldsOf('shop'))[0] === 'first');
    expect(await readHashes()).toEqual(before);
    expect(gateway.lines.join('\n')).not.toContain('service:shop:secret');
  });
});
