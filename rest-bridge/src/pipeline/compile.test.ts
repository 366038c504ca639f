import { describe, expect, it } from '@jest/globals';
import { readApiSdl } from '@trestle/schema/sdl';
import { buildSchema } from 'graphql';
import { createOperationCompiler, readOperations } from '../operations/operations.ts';
import { createRequiredScopes } from '../operations/required-scopes.ts';
import { resourceAtVersion } from '../resources/resource-at-version.ts';
import { routes } from '../routes/route-table.ts';
import { checkRoutes, compileRoutes } from './compile.ts';

const schema = buildSchema(readApiSdl());
const operations = readOperations();

/** The routes of spec §4.2 and contract §4. */
const REQUIRED = `
  GET POST /users
  GET PUT PATCH DELETE /users/{id}
  GET POST /users/{id}/posts
  GET /users/{id}/posts/{postId}
  GET /users/{id}/orders
  POST /users/{id}/password-reset
  GET POST /orders
  GET /orders/{id}
  POST /orders/{id}/cancel
  POST /orders/{id}/cancellations
  GET /orders/{id}/items
  GET /orders/{id}/invoice
  POST /videos/{id}/publish
  GET /products
  GET /posts
  GET /search
  POST /payments
  POST /auth/login
  POST /auth/refresh
  POST /auth/logout
  GET /users/me
  GET /jobs/{id}
  GET POST /webhooks
  GET PATCH DELETE /webhooks/{id}
  GET /webhooks/{id}/deliveries
  POST /webhooks/{id}/deliveries/{deliveryId}/replays
  GET /posts/{id}
  GET POST /posts/{id}/comments
  GET /products/{id}
  GET /videos/{id}/content`;

describe('compileRoutes', () => {
  it.each([1, 2])('compiles every route, and each of its operations is valid against the schema, in version %i', (version) => {
    expect(() => {
      checkRoutes(routes, { schema, version });
    }).not.toThrow();
  });

  it('throws for a route whose operation does not exist', () => {
    const [route] = routes.filter((one) => 'operation' in one);
    if (!route) throw new Error('no route');
    expect(() => compileRoutes([{ ...route, operation: 'Nothing' }], { schema, version: 1 })).toThrow('Operation Nothing does not exist');
  });

  it('throws for a route whose resource has fields that the type lacks, though the operation is valid with another resource', () => {
    const find = (wanted: string) => {
      const found = routes.find(({ method, path }) => method === 'GET' && path === wanted);
      if (!found || !('operation' in found)) throw new Error(`no route ${wanted}`);
      return found;
    };
    const route = find('/users/{id}');
    const { resource } = find('/products/{id}');
    const check = (checked: typeof route) => () => {
      checkRoutes([checked], { schema, version: 1 });
    };
    expect(check(route)).not.toThrow();
    expect(check({ ...route, resource })).toThrow('is not valid against the schema');
  });

  it.each([1, 2])('compiles every field and every inclusion that a client may name in version %i', (version) => {
    for (const route of routes) {
      if (!('operation' in route)) continue;
      const operation = operations.get(route.operation);
      if (!operation) throw new Error(route.operation);
      const compile = createOperationCompiler({ schema, version }, operation, route.resource);
      const { fields, include } = resourceAtVersion(route.resource, version);
      for (const field of Object.keys(fields)) compile({ fields: [field], include: [] });
      for (const name of Object.keys(include)) compile({ fields: undefined, include: [name] });
    }
  });
});

describe('the scopes of routes', () => {
  const requiredScopesOf = createRequiredScopes(schema, operations);
  const found = (method: string, path: string) => {
    const route = routes.find((each) => each.method === method && each.path === path);
    return route && requiredScopesOf(route);
  };

  it.each([
    ['GET', '/orders', [['orders:read']]],
    ['GET', '/users/{id}/orders', [['orders:read']]],
    ['POST', '/orders/{id}/cancel', [['orders:write']]],
    ['POST', '/payments', [['payments:write']]],
    ['PATCH', '/users/{id}', [['users:write']]],
    ['POST', '/posts', [['posts:write']]],
    ['DELETE', '/users/{id}', [['users:write', 'account:manage']]],
    ['GET', '/channels/{id}/messages', [['messages:read']]],
    ['DELETE', '/sessions/{id}', [['account:manage']]],
    // Any caller may end its own session.
    ['POST', '/auth/logout', [[]]],
    // Public data needs none.
    ['GET', '/users/{id}', undefined],
    ['GET', '/posts', undefined],
    ['GET', '/products', undefined],
  ])('are those of the fields in the SDL: %s %s', (method, path, scopes) => {
    expect(found(method, path)).toEqual(scopes);
  });

  it('are never demanded by a route that anonymous callers may use', () => {
    const [route] = routes.filter(({ path }) => path === '/orders');
    if (!route) throw new Error('no route');
    expect(() => requiredScopesOf({ ...route, needsCaller: false })).toThrow('GET /orders needs a caller');
  });
});

describe('routes', () => {
  it('contains every route of spec §4.2 and contract §4', () => {
    const known = routes.map(({ method, path }) => `${method} ${path}`);
    const required = REQUIRED.trim()
      .split('\n')
      .flatMap((line) => {
        const words = line.trim().split(' ');
        return words.slice(0, -1).map((method) => `${method} ${words.at(-1) ?? ''}`);
      });
    expect(required.filter((route) => !known.includes(route))).toEqual([]);
  });
});
