import { describe, expect, it } from '@jest/globals';
import { readHeaderRule } from './read-header-rule.ts';

describe('readHeaderRule', () => {
  it('reads claims, with and without a default', () => {
    expect(readHeaderRule({ insert: 'X-User', claim: 'sub', default: 'none' }, 'request')).toEqual({
      rule: { kind: 'claim', name: 'x-user', claim: 'sub', fallback: 'none' },
    });
  });

  it('reads patterns of requests', () => {
    const pattern = { prefix: 'x-', suffix: '-id' };
    expect(readHeaderRule({ propagate: 'X-*-Id' }, 'request')).toEqual({ rule: { kind: 'propagate like', pattern } });
    expect(readHeaderRule({ remove: 'X-*-Id' }, 'request')).toEqual({ rule: { kind: 'remove like', pattern } });
    expect(readHeaderRule({ propagate: '*' }, 'request')).toEqual({
      rule: { kind: 'propagate like', pattern: { prefix: '', suffix: '' } },
    });
  });

  it.each([
    [{ propagate: 'x-*-*' }, 'request', '`*` once'],
    [{ propagate: 'x *' }, 'request', '`*` once'],
    [{ propagate: `${'x'.repeat(128)}*` }, 'request', '`*` once'],
    [{ propagate: 'x-*', as: 'y' }, 'request', '`as` beside a pattern'],
    [{ propagate: 'x-*', default: 'd' }, 'request', '`default` beside a pattern'],
    [{ insert: 'x-*', value: 'v' }, 'request', 'without `*`'],
    [{ propagate: 'x-*' }, 'response', 'for requests'],
    [{ remove: 'x-*' }, 'response', 'for requests'],
    [{ insert: 'x-a', claim: '' }, 'request', 'name a claim'],
    [{ insert: 'x-a', claim: 'a b' }, 'request', 'name a claim'],
    [{ insert: 'x-a', claim: 'x'.repeat(201) }, 'request', 'name a claim'],
    [{ insert: 'x-a', claim: 'sub', value: 'v' }, 'request', 'both'],
    [{ insert: 'x-a', value: 'v', default: 'd' }, 'request', 'default'],
    [{ insert: 'x-a', claim: 'sub', default: 'Zoë' }, 'request', 'visible ASCII'],
    [{ insert: 'x-a', claim: 'sub' }, 'response', 'only requests'],
    [{ insert: 'x-a' }, 'request', '`value` or `claim`'],
    [{ insert: 'authorization', claim: 'sub' }, 'request', '`authorization`, which reaches subgraphs by itself'],
    [{ propagate: 'x-a', claim: 'sub' }, 'request', 'must not have `claim`'],
    [{ propagate: 'Vary', as: 'ETag' }, 'response', '`ETag`, which the gateway decides'],
  ] as const)('refuses %j for a %s', (fields, direction, fault) => {
    expect(readHeaderRule(fields, direction)).toEqual({ fault: expect.stringContaining(fault) });
  });
});
