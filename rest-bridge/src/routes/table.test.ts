import { describe, expect, it } from '@jest/globals';
import { readApiSdl } from '@trestle/schema/sdl';
import { buildSchema } from 'graphql';
import { createPrepare, readOperations } from '../operations.ts';
import { compileRows } from '../pipeline/compile.ts';
import { createTable, rows } from './table.ts';

const schema = buildSchema(readApiSdl());

describe('the rows', () => {
  it('all fit the schema: operations, filters, sorts, bodies', () => {
    expect(() => compileRows(rows, schema)).not.toThrow();
  });

  it('show every field and every inclusion that a client may name', () => {
    const operations = readOperations();
    for (const { operation, resource } of rows) {
      const node = operations.get(operation);
      if (!node) throw new Error(operation);
      const prepare = createPrepare(schema, node, resource);
      for (const field of Object.keys(resource.fields)) prepare({ fields: [field], include: [] });
      for (const include of Object.keys(resource.include)) prepare({ fields: undefined, include: [include] });
    }
  });

  it('have what issue 2 asks for', () => {
    const known = rows.map(({ method, path }) => `${method} ${path}`);
    const asked = [
      'GET /users',
      'POST /users',
      ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /users/{id}`),
      'GET /users/{id}/orders',
      'GET /users/{id}/posts',
      'POST /orders',
      'GET /orders',
      'GET /orders/{id}',
      'GET /products',
      'GET /posts',
      'POST /auth/login',
    ];
    expect(known).toEqual(expect.arrayContaining(asked));
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
