import { describe, expect, it } from '@jest/globals';
import { FetchLog } from '../../request/fetch-log.ts';
import { chooseCacheControl, chooseVary, toCacheVary } from './cache-control.ts';

const QUERY = { outcome: 'complete', operationKind: 'query' } as const;
const GET = { method: 'GET', headers: {} };

/** Returns the log of fetches with these values of `Cache-Control`. */
function createLog(...values: (string | undefined)[]): FetchLog {
  const log = new FetchLog();
  for (const value of values) {
    log.restrictCaching(value, {});
    log.add('users', 1);
  }
  return log;
}
interface Choice {
  readonly identity?: readonly string[];
  readonly request?: object;
  readonly result?: object;
}
const choose = (values: (string | undefined)[], { identity = [], request = {}, result = {} }: Choice = {}) =>
  chooseCacheControl({ ...GET, ...request }, { fetchLog: createLog(...values), identity }, { ...QUERY, ...result });

describe('chooseCacheControl', () => {
  it('returns the strictest of all fetches', () => {
    expect(choose(['max-age=9', 'max-age=5'])).toBe('public, max-age=5');
    expect(choose(['max-age=9'], { request: { method: 'HEAD' } })).toBe('public, max-age=9');
  });

  it('returns no-store when a fetch says nothing, and without a fetch', () => {
    expect(choose(['max-age=9', undefined])).toBe('no-store');
    expect(choose([])).toBe('no-store');
  });

  it('forbids caches that clients share when headers of the request went to subgraphs', () => {
    expect(choose(['public, max-age=9, s-maxage=20'], { identity: ['x-tenant', 'acme'] })).toBe('private, max-age=9');
  });

  it.each([
    ['a POST', { request: { method: 'POST' } }],
    ['a mutation', { result: { operationKind: 'mutation' } }],
    ['a result with errors', { result: { outcome: 'partial' } }],
    ['a result without data', { result: { outcome: 'failed' } }],
    ['a refused document', { result: { outcome: 'refused', operationKind: undefined } }],
    ['a result with reports', { request: { headers: { 'trestle-cost': '1' } } }],
  ])('returns no-store for %s', (_, options) => {
    expect(choose(['max-age=9'], options)).toBe('no-store');
  });

  it('returns no-store for a result that sets a cookie', () => {
    const fetchLog = createLog('max-age=9');
    fetchLog.forward('set-cookie', 'a=1');
    expect(chooseCacheControl(GET, { fetchLog, identity: [] }, QUERY)).toBe('no-store');
  });

  const HINT = { caching: { maxAge: 30, sharedMaxAge: 30, isPrivate: false } };

  it('returns the hints of the schema, also without a fetch, and for a POST that asks', () => {
    expect(choose([], { result: HINT })).toBe('public, max-age=30');
    expect(choose([undefined, undefined], { result: HINT })).toBe('public, max-age=30');
    expect(choose([], { result: HINT, request: { method: 'POST' } })).toBe('no-store');
    expect(choose([], { result: HINT, request: { method: 'POST', headers: { 'trestle-cache': '1' } } })).toBe('public, max-age=30');
  });

  it('restricts the hints by what some fetches say', () => {
    expect(choose([undefined, 'max-age=9'], { result: HINT })).toBe('public, max-age=9');
    expect(choose([undefined, 'max-age=90'], { result: HINT })).toBe('public, max-age=30');
    expect(choose([undefined, 'no-store'], { result: HINT })).toBe('no-store');
  });

  it('extends no hints by what fetches say, also for a client with a credential', () => {
    const NEVER = { caching: { maxAge: 0, sharedMaxAge: 0, isPrivate: true } };
    const PRIVATE = { caching: { maxAge: 30, sharedMaxAge: 0, isPrivate: true } };
    const identity = ['authorization', 'Bearer x'];
    expect(choose(['max-age=9'], { result: NEVER })).toBe('no-store');
    expect(choose(['max-age=9'], { result: NEVER, identity })).toBe('no-store');
    expect(choose(['max-age=9'], { result: PRIVATE })).toBe('private, max-age=9');
    expect(choose(['max-age=90'], { result: PRIVATE, identity })).toBe('private, max-age=30');
    expect(choose([undefined], { result: PRIVATE, identity })).toBe('no-store');
  });

  it('only restricts by the hints what subgraphs allow when headers of the request went to them', () => {
    const identity = ['authorization', 'Bearer a'];
    expect(choose([undefined], { result: HINT, identity })).toBe('no-store');
    expect(choose(['max-age=90'], { result: HINT, identity })).toBe('private, max-age=30');
  });

  it.each([
    ['errors', { result: { ...HINT, outcome: 'partial' } }],
    ['a mutation', { result: { ...HINT, operationKind: 'mutation' } }],
    ['a report', { result: HINT, request: { headers: { 'trestle-plan': '1' } } }],
  ])('ignores the hints of a result with %s', (_, options) => {
    expect(choose([], options)).toBe('no-store');
  });

  it('ignores the hints of a result that sets a cookie', () => {
    const fetchLog = createLog(undefined);
    fetchLog.forward('set-cookie', 'a=1');
    expect(chooseCacheControl(GET, { fetchLog, identity: [] }, { ...QUERY, ...HINT })).toBe('no-store');
  });
});

describe('chooseVary', () => {
  const read = () => 'Accept, x-tenant';

  it('names for a GET all that selects a result, and reports that were asked for', () => {
    expect(chooseVary({ method: 'GET', headers: {} }, read)).toBe('Accept, x-tenant');
    expect(chooseVary({ method: 'HEAD', headers: { 'trestle-cost': '1' } }, read)).toBe('Accept, x-tenant, trestle-cost');
    expect(chooseVary({ method: 'GET', headers: { 'trestle-cost': '1' } }, () => '*')).toBe('*');
  });

  it('is that of every response for a POST, which no cache keeps', () => {
    expect(chooseVary({ method: 'POST', headers: {} }, read)).toBe('Accept, Accept-Encoding, Authorization, X-API-Key');
  });
});

describe('toCacheVary', () => {
  it('names every header that selects a result', () => {
    const own = 'Accept, Accept-Encoding, Authorization, X-API-Key';
    expect(toCacheVary({ changing: [], hasPatterns: false })).toBe(own);
    const names = ['apollographql-client', 'x-graphql-client', 'graphql-client'];
    const byName = [own, 'x-tenant', ...names.map((name) => `${name}-name`)].join(', ');
    const vary = (isBy: { name: boolean; version: boolean }) => toCacheVary({ changing: ['x-tenant'], hasPatterns: false, isBy });
    expect(vary({ name: true, version: false })).toBe(byName);
    expect(vary({ name: true, version: true })).toBe([byName, ...names.map((name) => `${name}-version`)].join(', '));
  });

  it('is * where rules pass on headers by patterns, whose names are not known', () => {
    expect(toCacheVary({ changing: ['x-tenant'], hasPatterns: true })).toBe('*');
  });
});
