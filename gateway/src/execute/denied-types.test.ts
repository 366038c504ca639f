/** `@authenticated` and `@requiresScopes` on interfaces, unions and the types behind them. */
import { describe, expect, it } from '@jest/globals';
import { ANYBODY, composeSupergraph, holding, runFor } from './test-access.ts';

const POSTS = composeSupergraph({
  a: `type Query { posts: [Post!]  blogs: [Blog]  anything: [Any]  shapes: [Shape] }
      interface Post { id: ID! title: String }
      type Blog implements Post { id: ID! title: String }
      type Draft implements Post @requiresScopes(scopes: [["drafts"]]) { id: ID! title: String notes: String }
      interface Shape { area: Int side: Int }
      type Square implements Shape { area: Int side: Int @authenticated }
      type Circle implements Shape { area: Int side: Int }
      union Any = Blog | Draft`,
});
const BLOG = { __typename: 'Blog', id: 'b', title: 'B' };
const DRAFT = { __typename: 'Draft', id: 'd', title: 'D', notes: 'n' };
const posts = { posts: [BLOG, DRAFT], blogs: [BLOG], anything: [BLOG, DRAFT] };

describe('interfaces and unions', () => {
  it('demand on a field of an interface what each object type demands', () => {
    const query = '{ shapes { area side } }';
    const answer = () => ({ shapes: [{ __typename: 'Circle', area: 1, side: 2 }] });
    expect(runFor(POSTS, query, { answer }).data).toEqual({ shapes: [{ area: 1, side: null }] });
    expect(runFor(POSTS, query, { access: ANYBODY, answer }).data).toEqual({ shapes: [{ area: 1, side: 2 }] });
  });

  it('demand on a field in a fragment what its own type demands', () => {
    const query = '{ shapes { ... on Circle { side } ... on Square { area side } } }';
    const shapes = [
      { __typename: 'Circle', side: 2 },
      { __typename: 'Square', area: 4, side: 2 },
    ];
    const { data, errors } = runFor(POSTS, query, { answer: () => ({ shapes }) });
    expect(data).toEqual({ shapes: [{ side: 2 }, { area: 4, side: null }] });
    expect(errors.map(({ extensions }) => extensions.coordinate)).toEqual(['Square.side']);
  });

  it('keep a field that is denied on the interface and allowed on the object type', () => {
    const shapes = [{ __typename: 'Circle', side: 2 }, { __typename: 'Square' }];
    const { data } = runFor(POSTS, '{ shapes { side ... on Circle { side } } }', { answer: () => ({ shapes }) });
    expect(data).toEqual({ shapes: [{ side: 2 }, { side: null }] });
  });

  it('demand for an interface with a protected type what that type demands', () => {
    const { data, fetches } = runFor(POSTS, '{ posts { id } blogs { id } }', { access: ANYBODY, answer: () => posts });
    expect(data).toEqual({ posts: null, blogs: [{ id: 'b' }] });
    expect(fetches.join()).not.toContain('posts');
  });

  it('deny the fields in a fragment on a protected type', () => {
    const query = '{ anything { __typename ... on Blog { title } ... on Draft { title notes } } }';
    const { data, fetches, errors } = runFor(POSTS, query, { access: ANYBODY, answer: () => posts });
    expect(data).toEqual({
      anything: [
        { __typename: 'Blog', title: 'B' },
        { __typename: 'Draft', title: null, notes: null },
      ],
    });
    expect(fetches.join()).not.toContain('notes');
    expect(errors.map(({ extensions }) => extensions.coordinate)).toEqual(['Draft.title', 'Draft.notes']);
    expect(runFor(POSTS, query, { access: holding('drafts'), answer: () => posts }).errors).toEqual([]);
  });

  it('demand the same where an older composition put no rules on the interface', () => {
    const old = POSTS.replace(/(interface Post\n {2}@join__type\(graph: A\)\n) {2}@requiresScopes.*\n/, '$1');
    expect(old).not.toBe(POSTS);
    const { data } = runFor(old, '{ posts { id } }', { access: ANYBODY, answer: () => posts });
    expect(data).toEqual({ posts: null });
  });
});
