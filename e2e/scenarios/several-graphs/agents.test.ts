/** Agents (MCP) of several graphs: each graph has tools of its own, and leads agents to its own address. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { compose, startGateway } from '../../stack/federation/federation.ts';
import { HIGH_RATE_LIMITS, type RunningProcess } from '../../stack/processes/process.ts';
import { AGENT_HEADERS, toMessage } from '../mcp/agent.ts';

const METADATA = '/.well-known/oauth-protected-resource/mcp';
const ADMIN = 'admin.example.com';
const STAFF = 'staff.example.com';

let folder: string;
let gateway: RunningProcess;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-agents-'));
  const write = (name: string, content: string) => writeFile(join(folder, name), content);
  await write('graph.graphql', await compose({ only: { sdl: 'type Query { a: Int }' } }, {}));
  await write('keys.pem', generateTokenKeys().publicKeyPem);
  const mcp = 'mcp: { enabled: true, requireCredential: true, authorizationServers: ["https://auth.example.com"] }';
  for (const name of ['shop', 'admin']) {
    const documents = `documents: { trustedFile: ${name}.json }`;
    await write(`${name}.yaml`, `supergraph: { file: graph.graphql }\nauthentication: { publicKeyFile: keys.pem }\n${documents}\n${mcp}\n`);
    await write(`${name}.json`, JSON.stringify({ a: `query Of${name} { a }` }));
  }
  const graphs = `{ shop: { path: /shop, config: shop.yaml }, admin: { hosts: [${ADMIN}, ${STAFF}], path: /v1, config: admin.yaml } }`;
  await write('trestle.yaml', `server: { port: 0, publicUrl: "http://api.example.com:8080/" }\ngraphs: ${graphs}\n`);
  gateway = await startGateway(['--config', join(folder, 'trestle.yaml')], HIGH_RATE_LIMITS);
});
afterAll(async () => {
  await gateway.end('SIGTERM');
  await rm(folder, { recursive: true, force: true });
});

/** Sends a message to a graph, or reads without one. fetch cannot set Host. */
async function send(path: string, headers: Readonly<Record<string, string>>, message?: object) {
  const all = { ...AGENT_HEADERS, 'content-type': 'application/json', ...headers };
  const sent = httpRequest(gateway.url + path, { method: message ? 'POST' : 'GET', headers: all });
  sent.end(message && JSON.stringify(message));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  return {
    status: response.statusCode,
    challenge: response.headers['www-authenticate'],
    body: JSON.parse(await text(response)) as unknown,
  };
}

describe('an agent of one of several graphs', () => {
  it.each([
    ['a graph at a path', '/shop', 'example.com', 'http://api.example.com:8080/shop'],
    ['a graph at a host', '/v1', ADMIN, `http://${ADMIN}:8080/v1`],
    ['another host of the same graph', '/v1', `${STAFF.toUpperCase()}.:8080`, `http://${STAFF}:8080/v1`],
  ])('is led to the address of the graph that it has called: %s', async (_, path, host, url) => {
    const refused = await send(`${path}/mcp`, { host }, toMessage('tools/list'));
    expect([refused.status, refused.challenge]).toEqual([401, `Bearer realm="api", resource_metadata="${url}${METADATA}"`]);
    const metadata = await send(path + METADATA, { host });
    expect(metadata).toMatchObject({ status: 200, body: { resource: `${url}/mcp` } });
    // The address that is derived from that of the resource (RFC 9728 §3.1).
    expect(await send(METADATA.replace('/mcp', `${path}/mcp`), { host })).toEqual(metadata);
  });

  it('may be a page of a host of the graph, and not of the host of another one', async () => {
    const ask = async (origin: string) => (await send('/v1/mcp', { host: `${ADMIN}:8080`, origin }, toMessage('tools/list'))).status;
    expect([await ask(`http://${ADMIN}:8080`), await ask('http://evil.example.com')]).toEqual([401, 403]);
  });
});
