/** GraphQL requests that the gateway rejects, each with its status, its code and the id of the request (contract §3, §5, §6). */
import { get as httpGet } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';

let stack: LeasedStack;
beforeAll(async () => {
  stack = await leaseStack();
});
afterAll(() => stack.stop());

const nest = (levels: number): string => (levels === 0 ? '{ id }' : `{ author { posts ${nest(levels - 1)} } }`);

it.each([
  ['a mutation by GET', 'GET', '?query=mutation%7BdeleteUser(id:%22x%22)%7D', undefined, 405, 'METHOD_NOT_ALLOWED'],
  ['a query string that is not UTF-8', 'GET', '?query={user(id:%22%ff%22){id}}', undefined, 400, 'VALIDATION_ERROR'],
  ['another method', 'PUT', '', '{}', 405, 'METHOD_NOT_ALLOWED'],
  ['malformed JSON', 'POST', '', '{"query":', 400, 'VALIDATION_ERROR'],
  ['a list of requests', 'POST', '', [], 400, 'VALIDATION_ERROR'],
  ['a request without an operation', 'POST', '', {}, 400, 'VALIDATION_ERROR'],
  ['variables that are no object', 'POST', '', { query: '{ __typename }', variables: 'x' }, 400, 'VALIDATION_ERROR'],
  [
    'a variable of the wrong type',
    'POST',
    '',
    { query: 'query($id: ID!) { user(id: $id) { id } }', variables: { id: {} } },
    400,
    'VALIDATION_ERROR',
  ],
  ['a field that is not', 'POST', '', { query: '{ nope }' }, 400, 'VALIDATION_ERROR'],
  ['an operation that is too deep', 'POST', '', { query: `{ users { posts ${nest(6)} } }` }, 400, 'VALIDATION_ERROR'],
  [
    'fragments nested too deep',
    'POST',
    '',
    { query: `{ users { ${'... { '.repeat(1300)}id${' }'.repeat(1300)} } }` },
    400,
    'VALIDATION_ERROR',
  ],
  [
    'more than can be parsed',
    'POST',
    '',
    { query: `{ users { ${'... { '.repeat(9999)}id${' }'.repeat(9999)} } }` },
    400,
    'VALIDATION_ERROR',
  ],
  ['a subscription for a client of JSON', 'POST', '', { query: 'subscription { userCreated { id } }' }, 406, 'NOT_ACCEPTABLE'],
  ['more than 1 MiB', 'POST', '', { query: `# ${'x'.repeat(1024 * 1024)}` }, 413, 'PAYLOAD_TOO_LARGE'],
])('rejects %s', async (_, method, search, body, status, code) => {
  const headers = { 'apollo-require-preflight': 'yes' };
  const reply = await request(`${stack.gateway}/graphql${search}`, { method, headers, ...(body !== undefined && { body }) });
  expect(reply.status).toBe(status);
  const { errors } = reply.body as { errors: { extensions: { code: string; requestId: string } }[] };
  expect(errors[0]?.extensions.code).toBe(code);
  expect(errors[0]?.extensions.requestId).toBe(reply.headers.get('x-request-id'));
});

const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const QUERY = '{ productsConnection(filter: { createdAtGte: $at }) { totalCount } }';

it.each([
  ['a literal', 'exceeds the limit of 256', JSON.stringify({ query: QUERY.replace('$at', lists(300)) })],
  ['a default', 'exceeds the limit of 256', JSON.stringify({ query: `query ($at: DateTime = ${lists(300)}) ${QUERY}` })],
  // Written by hand, as JSON.stringify does not go that deep.
  ['a variable', 'the limit of 256', `{ "query": "query ($at: DateTime) ${QUERY}", "variables": { "at": ${lists(100_000)} } }`],
])('rejects %s that is nested too deep before it is planned, and serves other requests', async (_, limit, body) => {
  const started = performance.now();
  const refused = await request(`${stack.gateway}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'VALIDATION_ERROR' } }] } });
  expect(refused.text).toContain(limit);
  expect((await stack.graphql('{ productsConnection { totalCount } }')).data).toEqual({ productsConnection: { totalCount: 0 } });
  // Planned, it would take for ever.
  expect(performance.now() - started).toBeLessThan(20_000);
});

it('answers a query by GET, and rejects one that a page of another origin could send without a preflight', async () => {
  const url = `${stack.gateway}/graphql?query=%7B__typename%7D`;
  const get = (headers: Record<string, string>) => request(url, { method: 'GET', headers });
  expect((await get({})).body).toEqual({ data: { __typename: 'Query' } });
  expect((await get({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })).status).toBe(200);
  for (const mode of ['no-cors', 'navigate']) {
    // fetch would write these headers itself.
    const status = await new Promise((resolve) => {
      httpGet(url, { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
    });
    expect(status).toBe(403);
  }
});

it('returns the invalid fields of an input with the messages of the subgraph', async () => {
  const { errors } = await stack.graphql('{ users(pagination: { limit: 101, page: 0 }) { id } }');
  expect(errors[0]?.extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ field: 'pagination.page' }, { field: 'pagination.limit' }],
  });
});
