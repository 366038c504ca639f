import { describe, expect, it } from '@jest/globals';
import { readCaching } from './cache-settings.ts';

const ALL = { RESPONSE_CACHE: 'memory', RESPONSE_CACHE_CONTENTS: 'both', SUBGRAPH_CACHE_ENABLED: true, SUBGRAPH_CACHE_TTL_SECONDS: 0 };

describe('readCaching', () => {
  it('reads the settings for all subgraphs, and those of single ones by their names in lower case', () => {
    const env = { SUBGRAPH_CACHE_ENABLED_USERS: 'off', SUBGRAPH_CACHE_TTL_SECONDS_USERS: '7', SUBGRAPH_CACHE_TTL_SECONDS_B: '0' };
    expect(readCaching({ ...ALL, SUBGRAPH_CACHE_TTL_SECONDS: 60 }, env)).toEqual({
      all: { enabled: true, ttlSeconds: 60 },
      bySubgraph: new Map([
        ['users', { enabled: false, ttlSeconds: 7 }],
        ['b', { ttlSeconds: 0 }],
      ]),
    });
  });

  it('names every bad variable', () => {
    const env = { SUBGRAPH_CACHE_ENABLED_A: 'no', SUBGRAPH_CACHE_TTL_SECONDS_B: '-1', SUBGRAPH_CACHE_TTL_SECONDS_C: '1e308' };
    expect(() => readCaching(ALL, env)).toThrow(
      'SUBGRAPH_CACHE_ENABLED_A: must be on or off\nSUBGRAPH_CACHE_TTL_SECONDS_B: must be at least 0\nSUBGRAPH_CACHE_TTL_SECONDS_C: must be an integer',
    );
  });

  it('refuses a time where only whole results are kept, and allows it where nothing is', () => {
    const env = { SUBGRAPH_CACHE_TTL_SECONDS_A: '5' };
    const results = { ...ALL, RESPONSE_CACHE_CONTENTS: 'results' };
    expect(() => readCaching(results, env)).toThrow('responseCache.contents must be entities or both with ttlSeconds');
    expect(readCaching({ ...results, RESPONSE_CACHE: 'off' }, env).bySubgraph.size).toBe(1);
    expect(readCaching(results, { SUBGRAPH_CACHE_TTL_SECONDS_A: '0' }).bySubgraph.size).toBe(1);
  });
});
