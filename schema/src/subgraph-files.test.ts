import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { compose } from './compose.ts';
import { SCHEMA_DIRECTORY, readSubgraphSdl } from './sdl.ts';
import { findFileFaults } from './subgraph-files.ts';
import { SUBGRAPHS, SUBGRAPH_NAMES, databaseSettingOf, portSettingOf, urlSettingOf } from './subgraphs.ts';

describe('findFileFaults', () => {
  it('returns no fault for the files of schema/ and the table of subgraphs', () => {
    expect(findFileFaults(readdirSync(SCHEMA_DIRECTORY), SUBGRAPH_NAMES)).toEqual([]);
  });

  it('reports files without an entry or with another extension, missing files, and names that settings cannot contain', () => {
    const files = ['users.graphql', 'reviews.graphql', 'stock.graphqls', 'supergraph.graphql', 'api.graphql', 'src', 'README.md'];
    expect(findFileFaults(files, ['users', 'orders', 'Odd-Name'])).toEqual([
      expect.stringMatching(/^schema\/reviews\.graphql does not belong to a subgraph\. Add an entry "reviews"/),
      'schema/stock.graphqls is ignored because of its extension. Rename it to schema/stock.graphql.',
      expect.stringMatching(/^schema\/orders\.graphql does not exist/),
      expect.stringMatching(/^schema\/Odd-Name\.graphql does not exist/),
      expect.stringMatching(/^Subgraph name "Odd-Name" is invalid/),
    ]);
  });
});

describe('SUBGRAPHS', () => {
  it('assigns a different port to each subgraph', () => {
    const ports = Object.values(SUBGRAPHS).map(({ port }) => port);
    expect(new Set(ports).size).toBe(ports.length);
  });

  it('derives the names of settings from the name of the subgraph', () => {
    expect([portSettingOf('users'), databaseSettingOf('users'), urlSettingOf('users')]).toEqual([
      'USERS_PORT',
      'USERS_DATABASE_URL',
      'SUBGRAPH_URL_USERS',
    ]);
  });
});

describe('docs/subgraphs.md', () => {
  it('contains a subgraph that composes with the others and extends their types', () => {
    const page = readFileSync(`${SCHEMA_DIRECTORY}../docs/subgraphs.md`, 'utf8');
    const [, sdl = ''] = /```graphql title="schema\/reviews\.graphql"\n([\s\S]*?)```/.exec(page) ?? [];
    const source = (name: string, text: string) => ({ name, url: `http://localhost/${name}`, file: `schema/${name}.graphql`, sdl: text });
    const result = compose([...SUBGRAPH_NAMES.map((name) => source(name, readSubgraphSdl(name))), source('reviews', sdl)]);
    expect(result).toMatchObject({ ok: true });
    expect(result.ok && result.apiSdl).toMatch(/type Product implements Node \{[^}]*reviews: \[Review!\]!/);
  });
});
