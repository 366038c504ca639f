import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { HTTP1_CLIENTS, UpstreamFixture, createContext, failure } from './test-upstream.ts';

const DATA = { data: { ok: true } };
const answer = (request: IncomingMessage, response: ServerResponse) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(DATA));
  });
};
/** Nothing listens there: it is the port of a server that was closed. */
const findClosed = async (fixture: UpstreamFixture) => {
  const url = await fixture.listen(answer);
  await fixture.close();
  return url;
};

describe.each(HTTP1_CLIENTS)('several addresses of a subgraph by %s', (client) => {
  const fixture = new UpstreamFixture(client);
  afterEach(() => fixture.close());

  it('spreads requests over all addresses, each with its own path', async () => {
    const paths: string[] = [];
    const handle = (request: IncomingMessage, response: ServerResponse) => {
      paths.push(request.url ?? '');
      answer(request, response);
    };
    const urls = [`${await fixture.listen(handle)}/a?x=1`, `${await fixture.listen(handle)}/b`];
    const { fetch } = fixture.open('http://unused.invalid/', { urlLists: new Map([['stock', urls]]) });
    await Promise.all(Array.from({ length: 10 }, () => fetch('{}')));
    expect(paths.filter((path) => path === '/graphql/a?x=1')).toHaveLength(5);
    expect(paths.filter((path) => path === '/graphql/b')).toHaveLength(5);
  });

  it('sends queries and mutations to another address when one is closed, and ejects that one', async () => {
    const closed = await findClosed(fixture);
    const urls = [closed, await fixture.listen(answer)];
    const { fetch, metrics } = fixture.open('http://unused.invalid/', {
      urlLists: new Map([['stock', urls]]),
      limits: { retryPercent: 0, ejectionFailures: 3, ejectionMs: 30_000 },
    });
    for (let i = 0; i < 20; i++) expect(await fetch('{}', createContext(), i % 2 === 0)).toMatchObject(DATA);
    const text = await metrics.metrics();
    expect(text).toContain(`trestle_subgraph_ejections_total{subgraph="Stock",address="${new URL(closed).host}"} 1`);
    expect(text).toContain('trestle_subgraph_request_retries_total{subgraph="Stock"} 0');
  });

  it('sends a query to another address when the connection was lost, but not a mutation, which may have been executed', async () => {
    let lost = 0;
    const broken = await fixture.listenRaw((socket) => {
      lost++;
      socket.destroy();
    });
    const urls = [broken, await fixture.listen(answer)];
    const { fetch } = fixture.open('http://unused.invalid/', {
      urlLists: new Map([['stock', urls]]),
      limits: { retryPercent: 0, ejectionFailures: 0 },
    });
    for (let i = 0; i < 6; i++) expect(await fetch('{}')).toMatchObject(DATA);
    expect(lost).toBe(3);
    const mutations = [];
    for (let i = 0; i < 6; i++) mutations.push(await failure(fetch('{}', createContext(), true)));
    expect(mutations.filter((failed) => failed?.code === 'UPSTREAM_ERROR')).toHaveLength(3);
    expect(lost).toBe(6);
  });

  it('sends a query that is sent again because of its status to another address', async () => {
    let broken = 0;
    const failing = await fixture.listen((_, response) => {
      broken++;
      response.writeHead(503).end();
    });
    const { fetch } = fixture.open('http://unused.invalid/', {
      urlLists: new Map([['stock', [failing, await fixture.listen(answer)]]]),
      limits: { retryStatuses: [503], retryPercent: 100, ejectionFailures: 0, breakerFailures: 0 },
    });
    const results = await Promise.all(Array.from({ length: 10 }, () => fetch('{}')));
    expect(results).toEqual(Array.from({ length: 10 }, () => DATA));
    expect(broken).toBe(5);
  });

  it('has one time limit for all addresses of a request', async () => {
    // The timers of undici are up to a second late.
    const timeoutMs = client === 'lean' ? 1000 : 3000;
    // The first address takes most of the time before it fails, and the second one more than what is left.
    const broken = await fixture.listenRaw((socket) => setTimeout(() => socket.destroy(), 0.8 * timeoutMs));
    const slow = await fixture.listen((request, response) => setTimeout(answer, 0.6 * timeoutMs, request, response));
    const urls = [broken, slow];
    const { fetch } = fixture.open('http://unused.invalid/', {
      urlLists: new Map([['stock', urls]]),
      limits: { retryPercent: 0, timeoutMs },
    });
    expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  });

  it('ejects an address that answers 503, and uses it again when it works', async () => {
    let isBroken = true;
    let served = 0;
    const flaky = await fixture.listen((request, response) => {
      if (isBroken) response.writeHead(503).end();
      else {
        served++;
        answer(request, response);
      }
    });
    const { fetch } = fixture.open('http://unused.invalid/', {
      urlLists: new Map([['stock', [flaky, await fixture.listen(answer)]]]),
      limits: { ejectionFailures: 2, ejectionMs: 10 },
    });
    const failures = [];
    for (let i = 0; i < 4; i++) failures.push(await failure(fetch('{}')));
    expect(failures.filter((failed) => failed !== undefined)).toHaveLength(2);
    isBroken = false;
    while (served < 3) await fetch('{}');
    expect(served).toBe(3);
  });
});
