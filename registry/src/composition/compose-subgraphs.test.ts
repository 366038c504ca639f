/** What is reported of schemas for which the composer throws. */
import { describe, expect, it } from '@jest/globals';
import { composeSubgraphs } from './compose-subgraphs.ts';

describe('composeSubgraphs', () => {
  it.each([
    ['an address of @link that is no string', 'extend schema @link(url: 5) type Query { a: Int }'],
    ['one type as two roots', 'schema { query: Query mutation: Query } type Query { a: Int }'],
  ])('returns a problem for %s', async (_, sdl) => {
    const outcome = await composeSubgraphs({ subgraphs: [{ name: 'one', url: 'http://localhost/graphql', sdl }] });
    expect(outcome).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringMatching(/^The composer failed for these schemas: ./) }],
    });
  });
});
