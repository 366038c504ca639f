import { describe, expect, it } from '@jest/globals';
import { toLeanTargets } from './lean-targets.ts';
import { routes } from './route-table.ts';

const targets = toLeanTargets(routes, [1, 2]);

describe('toLeanTargets', () => {
  it.each(['/v1/users/usr_1', '/v2/users/usr_1?fields=id', '/v1/users', '/v1/users?limit=5', '/v1/orders/ord_1/invoice'])(
    'matches %s',
    (target) => {
      expect(target).toMatch(targets);
    },
  );

  it.each(['/users/usr_1', '/v3/users/usr_1', '/api/v1/users/usr_1', '/v1/users/usr_1/', '/v1/unknown', '/readyz', '/'])(
    'leaves %s to Node.js',
    (target) => {
      expect(target).not.toMatch(targets);
    },
  );

  it('leaves files and streams of events to Node.js', () => {
    const others = routes.filter((route) => 'operation' in route && (route.success.content === 'file' || route.stream));
    expect(others.length).toBeGreaterThan(2);
    for (const { path } of others) expect(`/v1${path.replaceAll(/\{\w+\}/g, 'a')}`).not.toMatch(targets);
  });
});
