import { describe, expect, it } from '@jest/globals';
import { readApiSdl } from '@trestle/schema/sdl';
import { buildSchema } from 'graphql';
import { createOperationCompiler, readOperations } from '../operations/operations.ts';
import { resourceAtVersion } from '../resources/resource-at-version.ts';
import { routes } from '../routes/route-table.ts';
import { compileRoutes } from './compile.ts';

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
  it.each([1, 2])('compiles every route against the schema in version %i', (version) => {
    expect(() => compileRoutes(routes, { schema, version })).not.toThrow();
  });

  it('throws for a route whose operation does not exist', () => {
    const [route] = routes.filter((one) => 'operation' in one);
    if (!route) throw new Error('no route');
    expect(() => compileRoutes([{ ...route, operation: 'Nothing' }], { schema, version: 1 })).toThrow('Operation Nothing does not exist');
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
