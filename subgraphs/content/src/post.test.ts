import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { POST_STATUSES, type PostStatus, readNewPost, readPostChange, readPostFilter, statusesBefore } from './post.ts';

const outcomeOf = (task: () => unknown): { code?: string; fields?: string[] } => {
  try {
    task();
    return {};
  } catch (error) {
    const { code, details } = error as { code: string; details?: { field: string }[] };
    return { code, ...(details && { fields: details.map(({ field }) => field) }) };
  }
};

describe('the state of a post', () => {
  it('goes draft → published → archived, one step at a time, and may stay', () => {
    expect(Object.fromEntries(POST_STATUSES.map((status) => [status, statusesBefore(status)]))).toEqual({
      DRAFT: ['DRAFT'],
      PUBLISHED: ['DRAFT', 'PUBLISHED'],
      ARCHIVED: ['PUBLISHED', 'ARCHIVED'],
    });
  });

  it('never goes back, whatever is asked for in whatever order', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...POST_STATUSES), { maxLength: 20 }), (asked) => {
        const rank = (status: PostStatus) => POST_STATUSES.indexOf(status);
        let status: PostStatus = 'DRAFT';
        for (const next of asked) {
          const taken: PostStatus = statusesBefore(next).includes(status) ? next : status;
          expect([0, 1]).toContain(rank(taken) - rank(status));
          status = taken;
        }
      }),
    );
  });
});

describe('a new post', () => {
  it('is a draft without text or tags unless told otherwise', () => {
    expect(readNewPost({ title: 'T' })).toEqual({ title: 'T', body: '', status: 'DRAFT', tags: [] });
    expect(readNewPost({ title: 'T', body: 'b', status: 'PUBLISHED', tags: ['B', 'a'] })).toMatchObject({
      status: 'PUBLISHED',
      tags: ['a', 'b'],
    });
  });

  it('has a title of 1 to 200 characters, a text of at most 100,000 and good tags; all faults are told at once', () => {
    const tooMuch = { title: 'x'.repeat(201), body: 'x'.repeat(100_001), tags: [''] };
    expect(outcomeOf(() => readNewPost(tooMuch))).toEqual({ code: 'VALIDATION_ERROR', fields: ['title', 'body', 'tags.0'] });
    expect(outcomeOf(() => readNewPost({ title: ' ' }))).toEqual({ code: 'VALIDATION_ERROR', fields: ['title'] });
    expect(outcomeOf(() => readNewPost({ title: '😀'.repeat(200), body: 'x'.repeat(100_000) }))).toEqual({});
  });

  it('is not archived', () => {
    expect(outcomeOf(() => readNewPost({ title: 'T', status: 'ARCHIVED' }))).toEqual({ code: 'BUSINESS_RULE_VIOLATION' });
  });
});

describe('a change of a post', () => {
  it('holds what was given and nothing else', () => {
    expect(readPostChange({})).toEqual({});
    expect(readPostChange({ body: '', tags: [] })).toEqual({ body: '', tags: [] });
    expect(readPostChange({ title: 'T', status: 'ARCHIVED', tags: ['B'] })).toEqual({ title: 'T', status: 'ARCHIVED', tags: ['b'] });
  });

  it('can not be null anywhere; all faults are told at once', () => {
    expect(outcomeOf(() => readPostChange({ title: null, body: null, status: null, tags: null }))).toEqual({
      code: 'VALIDATION_ERROR',
      fields: ['title', 'body', 'status', 'tags'],
    });
  });
});

describe('a filter of posts', () => {
  it('compares the tag as tags are kept', () => {
    expect(readPostFilter({ tag: ' News', title: 'News' })).toEqual({ tag: 'news', title: 'News' });
    expect(readPostFilter({ tag: null })).toEqual({ tag: null });
  });
});
