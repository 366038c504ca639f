/** Trusted documents as tools, by the client of MCP's SDK against a gateway for a small supergraph. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { request, until, untilLogged } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { call, withAgent } from './agent.ts';
import { DOCUMENTS, MANIFEST, lent, subgraphs } from './library.ts';

let home: string;
let file: string;
let federation: Federation;
let url: string;
const write = async (clients: object) => {
  await writeFile(`${file}.next`, JSON.stringify(clients));
  await rename(`${file}.next`, file);
};
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-mcp-'));
  file = join(home, 'documents.json');
  await write(MANIFEST);
  const env = {
    MCP: 'on',
    MCP_MUTATIONS: 'on',
    TRUSTED_DOCUMENTS_FILE: file,
    SUBGRAPH_ERRORS: 'mask',
    MAX_INPUT_DEPTH: '3',
    MAX_COST: '200',
  };
  federation = await startFederation(subgraphs, { env });
  url = federation.gateway.url;
});
afterAll(async () => {
  await federation.stop();
  await rm(home, { recursive: true, force: true });
});

const namesOf = (headers: Record<string, string> = {}) =>
  withAgent(url, async (agent) => (await agent.listTools()).tools.map(({ name }) => name), { headers });

describe('the list of tools', () => {
  it('has the named queries and mutations that are valid, with their annotations', async () => {
    const { tools } = await withAgent(url, (agent) => agent.listTools());
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint, annotations?.destructiveHint])).toEqual([
      ['Books', true, false],
      ['Broken', true, false],
      ['Failing', true, false],
      ['Lend', false, true],
      ['Titled', true, false],
    ]);
  });

  it('describes tools by their description, their comment, or their root fields, and arguments by what they are for', async () => {
    const { tools } = await withAgent(url, (agent) => agent.listTools());
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    expect([...byName].map(([name, { description }]) => [name, description])).toEqual([
      ['Books', 'Searches the library.\nOne page only.'],
      ['Broken', 'Finds books, the newest first.'],
      ['Failing', 'Runs the query Failing.'],
      ['Lend', 'Lends a book to a reader.'],
      ['Titled', 'Books of one title.'],
    ]);
    expect(byName.get('Titled')?.inputSchema).toEqual({
      type: 'object',
      properties: {
        title: { type: 'string', description: 'The whole title.' },
        count: { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647, description: 'At most so many.' },
      },
      required: ['title', 'count'],
      additionalProperties: false,
    });
    expect(byName.get('Lend')?.inputSchema.properties?.['until']).toEqual({
      description: 'The scalar Date.\nA calendar date.\nIts format: https://dates.example/iso',
    });
  });

  it('describes enums, defaults and input objects that contain themselves, to a depth', async () => {
    const { tools } = await withAgent(url, (agent) => agent.listTools());
    const schema = tools.find(({ name }) => name === 'Books')?.inputSchema;
    expect(schema).toMatchObject({ required: [], properties: { first: { default: 5, type: 'integer' } } });
    const filter = schema?.properties?.['filter'] as { properties?: object } | undefined;
    expect(filter).toMatchObject({ type: ['object', 'null'], description: 'What the books must have.', additionalProperties: false });
    expect(filter?.properties).toMatchObject({
      title: { type: ['string', 'null'], description: 'Part of the title.' },
      shelf: {
        enum: ['HOME', 'ROOM', null],
        description: 'How a book is kept.\nHOME: For reading at home.\nROOM: In the reading room.',
      },
      tags: { type: 'array', items: { type: 'string' }, default: ['new'] },
    });
    expect(JSON.stringify(schema).match(/"not":/g)).toHaveLength(5);
    const validate = new Ajv2020({ strict: false }).compile(schema ?? false);
    expect([{}, { filter: { shelf: 'HOME', not: null } }, { filter: { shelf: 'X' } }, { more: 1 }].map((args) => validate(args))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('has the documents of the client that the headers name', async () => {
    expect(await namesOf({ 'apollographql-client-name': 'agents' })).toContain('Own');
    expect(await namesOf()).not.toContain('Own');
  });

  it('comes in pages, which a cursor continues, and refuses other cursors', async () => {
    const many = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`d${String(i)}`, `query Q${String(i)} { books { id } }`]));
    await write({ clients: [{ documents: { ...DOCUMENTS, ...many } }] });
    await until(async () => (await namesOf()).length === 100);
    const names: string[] = [];
    await withAgent(url, async (agent) => {
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const page = await agent.listTools(cursor === undefined ? {} : { cursor });
        names.push(...page.tools.map(({ name }) => name));
        cursor = page.nextCursor;
      }
      for (const cursor of ['', 'x', '!!', Buffer.from('a b').toString('base64url')])
        await expect(agent.listTools({ cursor })).rejects.toMatchObject({ code: -32602 });
    });
    expect(names).toHaveLength(255);
    expect(new Set(names).size).toBe(255);
    await write({ clients: 1 });
    await until(() => Promise.resolve(federation.gateway.lines.some((line) => line.includes('refused changed trusted documents'))));
    await write(MANIFEST);
    await until(async () => (await namesOf()).length === 5);
  });

  it('follows the supergraph', async () => {
    const [before] = [federation.supergraphSdl];
    await federation.replaceSupergraph(before.replaceAll('  broken: String', '  broken: String\n  removed: Int'));
    await until(async () => (await namesOf()).includes('Stale'));
    await federation.replaceSupergraph(before);
    await until(async () => !(await namesOf()).includes('Stale'));
  });
});

describe('a call of a tool', () => {
  it('returns the result of the operation as an object and as JSON', async () => {
    const result = await withAgent(url, (agent) => call(agent, 'Books', { filter: { title: 'Rope' }, first: 1 }));
    expect(result.structuredContent).toEqual({ data: { books: [{ id: '0', title: 'Rope' }] } });
    expect([result.isError, JSON.parse(result.content[0]?.text ?? '')]).toEqual([false, result.structuredContent]);
  });

  it('runs mutations', async () => {
    const result = await withAgent(url, (agent) => call(agent, 'Lend', { id: '7', until: '2030-01-01' }));
    expect(result.structuredContent.data).toEqual({ lend: { id: '7' } });
    expect(lent).toEqual([{ id: '7', until: '2030-01-01' }]);
  });

  it('returns errors with their codes, masked, and is an error without data', async () => {
    const [partial, failed] = await withAgent(url, async (agent) => [await call(agent, 'Broken'), await call(agent, 'Failing')]);
    expect([partial.isError, partial.structuredContent.data]).toEqual([false, { broken: null, books: [{ id: '0' }] }]);
    expect([failed.isError, failed.structuredContent.errors?.[0]?.extensions.code]).toEqual([true, 'INTERNAL_ERROR']);
    expect(JSON.stringify([partial, failed])).not.toContain('secret');
  });

  it('refuses arguments of other types, unknown ones, and those beyond the limits', async () => {
    const nest = (depth: number): object => (depth === 0 ? {} : { not: nest(depth - 1) });
    const cases: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
      ['Books', { first: 'many' }, /Int/],
      ['Books', { filter: { shelf: 'CELLAR' } }, /CELLAR|Shelf/],
      ['Books', { filter: [], fist: 1 }, /fist/],
      ['Books', { ['__proto__x']: 1 }, /__proto__x/],
      ['Titled', {}, /title/],
      ['Titled', { title: null, count: 1 }, /title/],
      ['Books', { filter: nest(4) }, /depth 5 exceeds the limit of 3/],
      ['Books', { first: 1_000_000 }, /[Cc]ost \d+ exceeds the limit of 200/],
    ];
    await withAgent(url, async (agent) => {
      for (const [name, args, message] of cases) {
        const { isError, structuredContent } = await call(agent, name, args);
        const [error] = structuredContent.errors ?? [];
        expect([name, args, isError, error?.extensions.code]).toEqual([name, args, true, 'VALIDATION_ERROR']);
        expect(error?.message).toMatch(message);
      }
    });
  });

  it('refuses tools that are not listed', async () => {
    await withAgent(url, async (agent) => {
      for (const name of ['Unknown', 'Stale', 'Lent', 'Own', '', '__proto__', 'x'.repeat(10_000)])
        await expect(call(agent, name)).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('Unknown tool') });
    });
  });

  it('logs which documents are no tools, and why', async () => {
    await untilLogged(federation.gateway, 'trusted documents that are not offered as tools');
    const log = federation.gateway.lines.join('\n');
    expect(log).toMatch(/trusted documents that are not offered as tools \(\d+\): .*Stale: Cannot query field/);
  });

  it('is counted and logged as its operation, at its path', async () => {
    const count = async () =>
      Number(
        /request_duration_seconds_count\{operation="Titled",status="200"\} (\d+)/.exec(
          (await request(`${url}/metrics`, { method: 'GET' })).text,
        )?.[1] ?? 0,
      );
    const before = await count();
    await withAgent(url, (agent) => call(agent, 'Titled', { title: 'T', count: 1 }));
    await until(async () => (await count()) === before + 1);
    const isLogged = (line: string) => line.includes('"route":"/mcp"') && line.includes('"operation":"Titled"');
    await until(() => Promise.resolve(federation.gateway.lines.some(isLogged)));
  });
});
