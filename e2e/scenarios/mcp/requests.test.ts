/** What `/mcp` refuses, and the settings of the endpoint. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as open } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { AGENT_HEADERS, call, send, toMessage, withAgent } from './agent.ts';
import { MANIFEST, subgraphs } from './library.ts';

let home: string;
let file: string;
let federation: Federation;
let url: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-mcp-'));
  file = join(home, 'documents.json');
  await writeFile(file, JSON.stringify(MANIFEST));
  federation = await startFederation(subgraphs, { env: { MCP: 'on', TRUSTED_DOCUMENTS_FILE: file } });
  url = federation.gateway.url;
});
afterAll(async () => {
  await federation.stop();
  await rm(home, { recursive: true, force: true });
});

const LIST = toMessage('tools/list');

describe('requests to /mcp', () => {
  it('are answered 405 by other methods than POST', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'HEAD']) {
      const { status, headers } = await request(`${url}/mcp`, { method, headers: AGENT_HEADERS });
      expect([method, status, headers.get('allow')]).toEqual([method, 405, 'POST, OPTIONS']);
    }
  });

  it('are refused with an error of JSON-RPC when they are malformed, too large, or of another type or version', async () => {
    const huge = toMessage('tools/call', { name: 'Books', arguments: { filter: { title: 'x'.repeat(1_100_000) } } });
    const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Books","arguments":{"filter":${'['.repeat(100_000)}${']'.repeat(100_000)}}}}`;
    const cases: readonly (readonly [unknown, Record<string, string>, number])[] = [
      ['{', {}, 400],
      ['"text"', {}, 400],
      [[LIST, LIST], {}, 400],
      [{ ...LIST, jsonrpc: '1.0' }, {}, 400],
      [{ jsonrpc: '2.0', id: 1 }, {}, 400],
      [deep, {}, 400],
      [huge, {}, 413],
      [LIST, { 'content-type': 'text/plain' }, 415],
      [LIST, { 'content-encoding': 'zstd' }, 415],
      [LIST, { 'content-encoding': 'gzip' }, 400],
      [LIST, { accept: 'text/html' }, 406],
      [LIST, { 'mcp-protocol-version': '1999-01-01' }, 400],
    ];
    for (const [body, headers, status] of cases) {
      const reply = await send(url, body, { headers });
      expect([JSON.stringify(body).slice(0, 80), headers, reply.status]).toEqual([JSON.stringify(body).slice(0, 80), headers, status]);
      expect(reply.body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: expect.any(Number), message: expect.any(String) } });
    }
  });

  it('are answered with an error for unknown methods, invalid parameters, and methods of other capabilities', async () => {
    const errorOf = async (message: object) => {
      const { status, body } = await send(url, message);
      return { status, ...(body as { id: unknown; error?: { code: number; message: string } }) };
    };
    for (const method of ['tools/steal', 'resources/list', 'logging/setLevel'])
      expect(await errorOf(toMessage(method, { level: 'info' }))).toMatchObject({ status: 200, id: 1, error: { code: -32601 } });
    const invalid: readonly (readonly [string, object | undefined, string])[] = [
      ['tools/call', undefined, '`params`'],
      ['tools/call', { name: 1 }, '`params.name`'],
      ['tools/call', { name: 'Books', arguments: [] }, '`params.arguments`'],
      ['tools/call', { name: 'Books', arguments: null }, '`params.arguments`'],
      ['tools/list', { cursor: 5 }, '`params.cursor`'],
      ['initialize', { protocolVersion: 5 }, '`params.protocolVersion`'],
    ];
    for (const [method, params, place] of invalid)
      expect(await errorOf(toMessage(method, params, 7))).toMatchObject({
        status: 200,
        id: 7,
        error: { code: -32602, message: expect.stringContaining(place) },
      });
    expect(await errorOf(toMessage('tools/call', { name: 'Other' }))).toMatchObject({
      error: { code: -32602, message: 'Unknown tool: Other' },
    });
    expect((await send(url, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
  });

  it('agree on a version of the protocol with older clients', async () => {
    const initialize = async (protocolVersion: string) => {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'old', version: '1' } };
      return ((await send(url, toMessage('initialize', params))).body as { result: { protocolVersion: string } }).result.protocolVersion;
    };
    expect([await initialize('2025-03-26'), await initialize('2099-01-01')]).toEqual(['2025-03-26', '2025-11-25']);
    expect((await send(url, LIST)).headers.get('mcp-session-id')).toBeNull();
  });

  it('are refused for pages of other origins, also when these have the name of the host', async () => {
    const { port } = new URL(url);
    const reply = (origin: string, host?: string) =>
      new Promise<number>((resolve, reject) => {
        const headers = { ...AGENT_HEADERS, 'content-type': 'application/json', origin, ...(host !== undefined && { host }) };
        const sent = open(`${url}/mcp`, { method: 'POST', headers }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.on('error', reject);
        sent.end(JSON.stringify(LIST));
      });
    expect(await reply('https://evil.example')).toBe(403);
    expect(await reply('null')).toBe(403);
    expect(await reply(`http://evil.example:${port}`, `evil.example:${port}`)).toBe(403);
    expect(await reply(`http://127.0.0.1:${port}`)).toBe(200);
    expect(await reply(`http://localhost:${port}`, `localhost:${port}`)).toBe(200);
  });
});

describe('the settings of tools', () => {
  it('are off by default: there is no /mcp', async () => {
    const gateway = await startGateway(['--supergraph', await writeSupergraph(), '--port', '0', '--auth', 'off']);
    try {
      expect((await send(gateway.url, toMessage('tools/list'))).status).toBe(404);
    } finally {
      await gateway.end('SIGTERM');
    }
  });

  it('leave mutations out, and choose the client of the manifest', async () => {
    const env = { MCP: 'on', MCP_CLIENT: 'agents', TRUSTED_DOCUMENTS_FILE: file };
    const gateway = await startGateway(['--supergraph', await writeSupergraph(), '--port', '0', '--auth', 'off'], env);
    try {
      const list = () => withAgent(gateway.url, (agent) => agent.listTools(), { headers: { 'apollographql-client-name': 'other' } });
      expect((await list()).tools.map(({ name }) => name)).toEqual(['Books', 'Broken', 'Failing', 'Own', 'Titled']);
      await expect(withAgent(gateway.url, (agent) => call(agent, 'Lend', { id: '1' }))).rejects.toMatchObject({ code: -32602 });
    } finally {
      await gateway.end('SIGTERM');
    }
  });

  it('are refused without documents, and with the engine of Apollo', async () => {
    const args = ['--supergraph', await writeSupergraph(), '--port', '0', '--auth', 'off'];
    await expect(startGateway(args, { MCP: 'on' })).rejects.toThrow(/MCP: needs documents\.trustedFile/);
    await expect(startGateway([...args, '--engine', 'apollo'], { MCP: 'on', TRUSTED_DOCUMENTS_FILE: file })).rejects.toThrow(
      /MCP: needs the engine/,
    );
  });
});

async function writeSupergraph(): Promise<string> {
  const path = join(home, 'supergraph.graphql');
  await writeFile(path, federation.supergraphSdl);
  return path;
}
