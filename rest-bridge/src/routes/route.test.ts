import { describe, expect, it } from '@jest/globals';
import { type OperationRoute, selectableOf } from './route.ts';
import { routes } from './route-table.ts';

const find = (wanted: string) =>
  routes.find((route): route is OperationRoute => 'operation' in route && route.method === 'GET' && route.path === wanted);
const namesOf = (path: string) => {
  const route = find(path);
  if (!route) throw new Error(`no route ${path}`);
  const { fields, include } = selectableOf(route, 1);
  return [Object.keys(fields).length > 0, Object.keys(include).length > 0];
};

describe('selectableOf', () => {
  it('returns the fields and related resources of a representation', () => {
    expect(namesOf('/users/{id}')).toEqual([true, true]);
  });

  it.each(['/users/{id}/avatar', '/videos/{id}/content', '/videos/{id}/poster'])('returns nothing for the file at %s', (path) => {
    expect(namesOf(path)).toEqual([false, false]);
  });
});
