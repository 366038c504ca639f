import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { compose } from './compose.ts';
import { SCHEMA_DIRECTORY, readSubgraphSdl } from './sdl.ts';
import { findFileFaults } from './subgraph-files.ts';
import { SUBGRAPHS, SUBGRAPH_NAMES, databaseSettingOf, portSettingOf, urlSettingOf } from './subgraphs.ts';

describe('the files of schema/', () => {
  it('have one row each in the table of subgraphs', () => {
    expect(findFileFaults(readdirSync(SCHEMA_DIRECTORY), SUBGRAPH_NAMES)).toEqual([]);
  });

  it('are refused when a file has no row, another suffix, or is missing, or when its name can not stand in a setting', () => {
    const files = ['users.graphql', 'reviews.graphql', 'stock.graphqls', 'supergraph.graphql', 'api.graphql', 'src', 'README.md'];
    expect(findFileFaults(files, ['users', 'orders', 'Odd-Name'])).toEqual([
      expect.stringMatching(/^schema\/reviews\.graphql belongs to no subgraph: add a row "reviews"/),
      'schema/stock.graphqls is not read: name it schema/stock.graphql',
      expect.stringMatching(/^schema\/orders\.graphql is missing/),
      expect.stringMatching(/^schema\/Odd-Name\.graphql is missing/),
      expect.stringMatching(/^The subgraph name "Odd-Name" must consist of lower-case letters and digits/),
    ]);
  });
});

it('each subgraph has a port of its own, and settings named after it', () => {
  const ports = Object.values(SUBGRAPHS).map(({ port }) => port);
  expect(new Set(ports).size).toBe(ports.length);
  expect([portSettingOf('users'), databaseSettingOf('users'), urlSettingOf('users')]).toEqual([
    'USERS_PORT',
    'USERS_DATABASE_URL',
    'SUBGRAPH_URL_USERS',
  ]);
});

it('the subgraph of docs/subgraphs.md composes with the others and extends their types', () => {
  const page = readFileSync(`${SCHEMA_DIRECTORY}../docs/subgraphs.md`, 'utf8');
  const [, sdl = ''] = /```graphql title="schema\/reviews\.graphql"\n([\s\S]*?)```/.exec(page) ?? [];
  const source = (name: string, text: string) => ({ name, url: `http://localhost/${name}`, file: `schema/${name}.graphql`, sdl: text });
  const result = compose([...SUBGRAPH_NAMES.map((name) => source(name, readSubgraphSdl(name))), source('reviews', sdl)]);
  expect(result).toMatchObject({ ok: true });
  expect(result.ok && result.apiSdl).toMatch(/type Product implements Node \{[^}]*reviews: \[Review!\]!/);
});
