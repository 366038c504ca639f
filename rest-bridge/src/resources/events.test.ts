import { expect, it } from '@jest/globals';
import { toEventsResponse } from './events.ts';
import type { RepresentationContext } from './representation.ts';

const linkOf = (query: string, hasNextPage: boolean) => {
  const context = { prefix: '/v1', path: '/events', search: new URLSearchParams(query), paging: { variant: 'cursor', limit: 10 } };
  const pageInfo = { hasNextPage, hasPreviousPage: false, endCursor: 'b' };
  const represent = () => ({ body: {} });
  const { headers } = toEventsResponse({ edges: [], pageInfo }, represent as never, context as unknown as RepresentationContext);
  return headers?.['link'];
};

it('links to the first page of events and to the next one, with the other parameters of the request', () => {
  expect(linkOf('after=a&type=post.created', true)).toBe(
    '</v1/events?type=post.created>; rel="first", </v1/events?type=post.created&after=b>; rel="next"',
  );
  expect(linkOf('cursor=a&limit=10', true)).toBe('</v1/events?limit=10>; rel="first", </v1/events?limit=10&after=b>; rel="next"');
});

it('links to the first page of events also when there is no other', () => {
  expect(linkOf('', false)).toBe('</v1/events>; rel="first"');
});
