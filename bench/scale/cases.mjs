/** The requests for each list: without parameters, with filters, with sorts, and for pages in the middle. */

/**
 * Requests that are measured without a limit: page and offset paging read the rows that they skip and count all rows; a sort by several
 * fields sorts all rows with the same first field.
 */
export const EXCEPTED = [
  '/users?cursor=&sort=role,-createdAt',
  '/orders?cursor=&sort=status,-total',
  '/users?page=1',
  '/users?offset=5000',
  '/orders?page=1',
  '/posts?page=1',
];

/** Returns the requests that must meet the limit. `user` is the id of an account with orders and posts. */
export function listCases(user) {
  return [
    ...both('/users', ['', 'sort=name', 'sort=-age', 'sort=role', 'sort=-updatedAt', 'sort=email']),
    ...first('/users', ['role=moderator', 'isActive=false', 'age=30', 'age_gte=40&age_lte=50', 'name=Name%207', 'email=user7@example.org']),
    ...first('/users', [
      'createdAt_gte=2020-01-05T00:00:00Z',
      'updatedAt_lte=2023-01-02T00:00:00Z',
      'q=zanzibar',
      'q=name',
      'q=nosuchword',
      'age_gte=40&sort=name',
      'include=posts,orders',
    ]),
    ...both('/orders', ['', 'sort=total', 'sort=status', 'sort=-updatedAt']),
    ...first('/orders', [
      'status=pending',
      `customerId=${user}`,
      'total=500',
      'total_gte=50000&total_lte=50100',
      'createdAt_lte=2020-01-03T00:00:00Z',
      'include=items',
    ]),
    ...both('/posts', ['', 'sort=title', 'sort=status', 'sort=-updatedAt']),
    ...first('/posts', [
      'status=published',
      'status=draft',
      'tag=tag7',
      `authorId=${user}`,
      'title=Title%207',
      'q=zanzibar',
      'q=number',
      'q=nosuchword',
      'q=zanzibar&in=body',
      'include=author',
    ]),
    ...both(`/users/${user}/orders`, ['', 'sort=total']),
    ...both(`/users/${user}/posts`, ['', 'sort=title']),
    { path: '/products?cursor=&category=c1&sort=-price' },
    { path: `/users/${user}` },
  ];
}

function first(path, queries) {
  return queries.map((query) => ({ path: `${path}?cursor=${query && `&${query}`}` }));
}

/** Returns requests for the first page and for a page in the middle. */
function both(path, queries) {
  return queries.flatMap((query) => [...first(path, [query]), { path: `${path}?${query}`, isDeep: true }]);
}
