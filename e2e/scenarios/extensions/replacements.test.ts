/** Extensions that replace the operation of a client, or its result. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { CACHE_CONTROL } from '../response-cache/lamps.ts';

const SOURCES = {
  books: {
    sdl: `${CACHE_CONTROL}
      type Query { title(limit: Int): String @cacheControl(maxAge: 60) cheap: Int }
      type Mutation { add: Int }`,
    resolvers: {
      Query: { title: (_: unknown, { limit }: { limit?: number }) => `Emma ${String(limit)}`, cheap: () => 1 },
      Mutation: { add: () => 1 },
    },
  },
};

/** Replaces what the headers of a request say; `second` passes on what it sees. */
const MODULE = `
const give = ({ request }, name) => request.headers[name] && JSON.parse(decodeURIComponent(request.headers[name]));
export default [
  {
    name: 'first',
    onOperation: (event) => { const replacement = give(event, 'x-operation'); if (replacement) event.setOperation(replacement); },
    onResponse: (event) => {
      const body = give(event, 'x-body');
      if (body) event.setBody(body);
      const { 'x-cookie': cookie } = event.request.headers;
      if (cookie) event.setResponseHeader('set-cookie', cookie);
    },
  },
  {
    name: 'second',
    onOperation: ({ query, operationName, variables, setResponseHeader }) => setResponseHeader('x-seen', JSON.stringify({ query, operationName, variables })),
    onResponse: ({ readBody, setResponseHeader }) => setResponseHeader('x-seen-body', encodeURIComponent(readBody())),
  },
];
`;

let folder: string;
let federation: Federation;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-replacements-'));
  await writeFile(join(folder, 'extensions.mjs'), MODULE);
  federation = await startFederation(SOURCES, { env: { EXTENSIONS_FILE: join(folder, 'extensions.mjs'), RESPONSE_CACHE: 'memory' } });
});
afterAll(async () => {
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});

const header = (value: unknown) => encodeURIComponent(JSON.stringify(value));
const replaceOperation = (replacement: unknown, query = 'query Mine { cheap }') =>
  federation.ask(query, undefined, { 'x-operation': header(replacement) });
const replaceBody = (body: unknown) => federation.ask('{ title(limit: 1) }', undefined, { 'x-body': header(body) });

describe('an operation that onOperation replaces', () => {
  it("is executed in place of the client's, and seen by the next extension", async () => {
    const replacement = { query: 'query Other($limit: Int) { title(limit: $limit) }', operationName: 'Other', variables: { limit: 7 } };
    const { body, headers } = await replaceOperation(replacement);
    expect(body).toEqual({ data: { title: 'Emma 7' } });
    expect(JSON.parse(headers.get('x-seen') ?? '')).toEqual(replacement);
  });

  it('keeps the members that are not replaced', async () => {
    const { body } = await federation.ask(
      'query A($limit: Int) { title(limit: $limit) }',
      { limit: 1 },
      {
        'x-operation': header({ variables: { limit: 2 } }),
      },
    );
    expect(body).toEqual({ data: { title: 'Emma 2' } });
  });

  it("is validated like a client's", async () => {
    const { status, body } = await replaceOperation({ query: '{ unknown }' });
    expect([status, body.errors?.[0]?.extensions['code']]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('has a result that no other cache may keep, because a hook may have read any header, while that of the gateway does', async () => {
    const read = async (limit: number) => {
      const url = `${federation.url}?query=${encodeURIComponent('query A($limit: Int) { title(limit: $limit) }')}`;
      const response = await fetch(url, { headers: { 'x-operation': header({ variables: { limit } }) } });
      const { headers } = response;
      return [await response.json(), headers.get('cache-control'), headers.get('etag'), headers.get('cache-status')?.split(';')[1]];
    };
    for (const outcome of [' fwd=uri-miss', ' hit'])
      for (const limit of [31, 32])
        expect(await read(limit)).toEqual([{ data: { title: `Emma ${String(limit)}` } }, 'no-store', null, outcome]);
  });

  it('cannot be a mutation of a GET', async () => {
    const url = `${federation.url}?query=${encodeURIComponent('{ cheap }')}`;
    const response = await fetch(url, { headers: { 'x-operation': header({ query: 'mutation { add }' }) } });
    expect(response.status).toBe(405);
    await response.text();
  });

  it.each([
    ['a member that does not exist', { document: '{ cheap }' }],
    ['a query that is no string', { query: 1 }],
    ['variables that are no object', { variables: 'x' }],
  ])('refuses the request with INTERNAL_ERROR when it has %s', async (_, replacement) => {
    const { status, body } = await replaceOperation(replacement);
    expect([status, body.errors?.[0]?.extensions['code']]).toEqual([500, 'INTERNAL_ERROR']);
  });
});

describe('a result that onResponse replaces', () => {
  it('is what the client gets, and what the next extension reads', async () => {
    const { status, body, headers } = await replaceBody('{"data":{"title":"Émile"},"extensions":{"region":"eu"}}');
    expect([status, body]).toEqual([200, { data: { title: 'Émile' }, extensions: { region: 'eu' } }]);
    expect(decodeURIComponent(headers.get('x-seen-body') ?? '')).toContain('Émile');
  });

  it('may not be cached, while the result of the operation may', async () => {
    const url = `${federation.url}?query=${encodeURIComponent('{ title }')}`;
    const cacheControlOf = async (headers: Record<string, string>) => {
      const response = await fetch(url, { headers });
      await response.text();
      return response.headers.get('cache-control');
    };
    expect(await cacheControlOf({})).toContain('max-age=60');
    expect(await cacheControlOf({ 'x-body': header('{"data":null}') })).toContain('no-store');
  });

  it('may not be cached when an extension sets a cookie', async () => {
    const response = await fetch(`${federation.url}?query=${encodeURIComponent('{ title }')}`, { headers: { 'x-cookie': 'session=ada' } });
    await response.text();
    const { headers } = response;
    expect([headers.get('set-cookie'), headers.get('cache-control'), headers.get('etag')]).toEqual(['session=ada', 'no-store', null]);
  });

  it.each([
    ['text that is no JSON', '{"data":'],
    ['a list', '[]'],
    ['no text', { data: null }],
  ])('refuses the request with INTERNAL_ERROR when it is %s', async (_, given) => {
    const { status, body } = await replaceBody(given);
    expect([status, body.errors?.[0]?.extensions['code']]).toEqual([500, 'INTERNAL_ERROR']);
  });
});
