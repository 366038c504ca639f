import { describe, expect, it } from '@jest/globals';
import { readApiSdl } from '@trestle/schema/sdl';
import { buildSchema } from 'graphql';
import { createPrepare, readOperations } from '../operations.ts';
import { compileRows } from '../pipeline/compile.ts';
import { resourceAt } from '../versions/transform.ts';
import { createTable, rows } from './table.ts';

const schema = buildSchema(readApiSdl());
const operations = readOperations();

/** Spec §4.2, and the neighbours that contract §4 names. */
const ASKED = `
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

describe('the rows', () => {
  it.each([1, 2])('all fit the schema in version %i: operations, filters, sorts, bodies', (version) => {
    expect(() => compileRows(rows, { schema, version })).not.toThrow();
  });

  it.each([1, 2])('show every field and every inclusion that a client may name in version %i', (version) => {
    for (const row of rows) {
      if (!('operation' in row)) continue;
      const node = operations.get(row.operation);
      if (!node) throw new Error(row.operation);
      const prepare = createPrepare({ schema, version }, node, row.resource);
      const { fields, include } = resourceAt(row.resource, version);
      for (const field of Object.keys(fields)) prepare({ fields: [field], include: [] });
      for (const name of Object.keys(include)) prepare({ fields: undefined, include: [name] });
    }
  });

  it('are all that spec §4.2 asks for, and the neighbours of contract §4', () => {
    const known = rows.map(({ method, path }) => `${method} ${path}`);
    const asked = ASKED.trim()
      .split('\n')
      .flatMap((line) => {
        const words = line.trim().split(' ');
        return words.slice(0, -1).map((method) => `${method} ${words.at(-1) ?? ''}`);
      });
    expect(asked.filter((row) => !known.includes(row))).toEqual([]);
  });
});

describe('a table', () => {
  const row = (method: 'GET' | 'POST', path: string) => ({ method, path });

  it('matches segments and gives their values; a fixed segment beats a variable one', () => {
    const table = createTable([row('GET', '/users'), row('GET', '/users/{id}'), row('GET', '/users/me'), row('POST', '/users')]);
    expect(table(['users'])?.byMethod.size).toBe(2);
    expect(table(['users', 'x y'])?.params).toEqual({ id: 'x y' });
    expect(table(['users', 'me'])?.params).toEqual({});
    expect([table(['users', 'x', 'y']), table(['']), table(['Users'])]).toEqual([undefined, undefined, undefined]);
  });

  it('refuses two rows that are the same, and two names in one place', () => {
    expect(() => createTable([row('GET', '/a'), row('GET', '/a')])).toThrow('two rows');
    expect(() => createTable([row('GET', '/a/{x}'), row('GET', '/a/{y}/b')])).toThrow('same place');
  });
});
