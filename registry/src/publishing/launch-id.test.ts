import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { COMPOSER } from '../composition/compose-task.ts';
import { launchIdOf, versionIdOf } from './launch-id.ts';

const users = { name: 'users', url: 'http://localhost/users', sdl: 'type Query { a: Int }' };
const orders = { name: 'orders', url: 'http://localhost/orders', sdl: 'type Query { b: Int }' };

describe('launchIdOf', () => {
  it('is the same for the same subgraphs in any order, and differs for another schema, address, name or composer', () => {
    const id = launchIdOf([users, orders]);
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    expect(launchIdOf([orders, users])).toBe(id);
    const others = [
      launchIdOf([users]),
      launchIdOf([{ ...users, sdl: `${users.sdl} ` }, orders]),
      launchIdOf([{ ...users, url: 'http://localhost/other' }, orders]),
      launchIdOf([{ ...users, name: 'people' }, orders]),
      launchIdOf([users, orders], 'another composer'),
    ];
    expect(new Set([id, ...others]).size).toBe(6);
    expect(versionIdOf(users)).not.toBe(versionIdOf(orders));
  });

  it('names the version of the composer that is installed', () => {
    const path = createRequire(import.meta.url).resolve('@apollo/composition');
    const manifest = readFileSync(path.replace(/\/dist\/.*$/, '/package.json'), 'utf8');
    expect(COMPOSER).toBe(`@apollo/composition@${(JSON.parse(manifest) as { version: string }).version}`);
  });
});
