import { describe, expect, it } from '@jest/globals';
import { createRouteTable } from './route-table.ts';

describe('createRouteTable', () => {
  const route = (method: 'GET' | 'POST', path: string) => ({ method, path });

  it('matches segments, returns their values, and prefers a fixed segment to a variable one', () => {
    const table = createRouteTable([
      route('GET', '/users'),
      route('GET', '/users/{id}'),
      route('GET', '/users/me'),
      route('POST', '/users'),
    ]);
    expect(table(['users'])?.byMethod.size).toBe(2);
    expect(table(['users', 'x y'])?.params).toEqual({ id: 'x y' });
    expect(table(['users', 'me'])?.params).toEqual({});
    expect([table(['users', 'x', 'y']), table(['']), table(['Users'])]).toEqual([undefined, undefined, undefined]);
  });

  it('throws for two equal routes and for two names of the same segment', () => {
    expect(() => createRouteTable([route('GET', '/a'), route('GET', '/a')])).toThrow('Two routes match GET /a');
    expect(() => createRouteTable([route('GET', '/a/{x}'), route('GET', '/a/{y}/b')])).toThrow('{y} and {x} name the same path segment');
  });
});
