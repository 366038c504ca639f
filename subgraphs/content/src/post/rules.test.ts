import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { POST_STATUSES, type PostStatus, parseNewPost, parsePostChange, parsePostFilter, statusesBefore } from './rules.ts';

const outcomeOf = (task: () => unknown): { code?: string; fields?: string[] } => {
  try {
    task();
    return {};
  } catch (error) {
    const { code, details } = error as { code: string; details?: { field: string }[] };
    return { code, ...(details && { fields: details.map(({ field }) => field) }) };
  }
};

describe('the status of a post', () => {
  it('changes from draft to published to archived, one step at a time, or stays', () => {
    expect(Object.fromEntries(POST_STATUSES.map((status) => [status, statusesBefore(status)]))).toEqual({
      DRAFT: ['DRAFT'],
      PUBLISHED: ['DRAFT', 'PUBLISHED'],
      ARCHIVED: ['PUBLISHED', 'ARCHIVED'],
    });
  });

  it('never returns to an earlier one', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...POST_STATUSES), { maxLength: 20 }), (requested) => {
        const rank = (status: PostStatus) => POST_STATUSES.indexOf(status);
        let status: PostStatus = 'DRAFT';
        for (const next of requested) {
          const taken: PostStatus = statusesBefore(next).includes(status) ? next : status;
          expect([0, 1]).toContain(rank(taken) - rank(status));
          status = taken;
        }
      }),
    );
  });
});

describe('a new post', () => {
  it('is a draft without body or tags by default', () => {
    expect(parseNewPost({ title: 'T' })).toEqual({ title: 'T', body: '', status: 'DRAFT', tags: [] });
    expect(parseNewPost({ title: 'T', body: 'b', status: 'PUBLISHED', tags: ['B', 'a'] })).toMatchObject({
      status: 'PUBLISHED',
      tags: ['a', 'b'],
    });
  });

  it('needs a title of 1 to 200 characters, a body of at most 100,000 and valid tags, and lists every fault', () => {
    const tooMuch = { title: 'x'.repeat(201), body: 'x'.repeat(100_001), tags: [''] };
    expect(outcomeOf(() => parseNewPost(tooMuch))).toEqual({ code: 'VALIDATION_ERROR', fields: ['title', 'body', 'tags.0'] });
    expect(outcomeOf(() => parseNewPost({ title: ' ' }))).toEqual({ code: 'VALIDATION_ERROR', fields: ['title'] });
    expect(outcomeOf(() => parseNewPost({ title: '😀'.repeat(200), body: 'x'.repeat(100_000) }))).toEqual({});
  });

  it('cannot be archived', () => {
    expect(outcomeOf(() => parseNewPost({ title: 'T', status: 'ARCHIVED' }))).toEqual({ code: 'BUSINESS_RULE_VIOLATION' });
  });
});

describe('a change of a post', () => {
  it('contains the fields that were sent, and no others', () => {
    expect(parsePostChange({})).toEqual({});
    expect(parsePostChange({ body: '', tags: [] })).toEqual({ body: '', tags: [] });
    expect(parsePostChange({ title: 'T', status: 'ARCHIVED', tags: ['B'] })).toEqual({ title: 'T', status: 'ARCHIVED', tags: ['b'] });
  });

  it('refuses null for every field, and lists every fault', () => {
    expect(outcomeOf(() => parsePostChange({ title: null, body: null, status: null, tags: null }))).toEqual({
      code: 'VALIDATION_ERROR',
      fields: ['title', 'body', 'status', 'tags'],
    });
  });
});

describe('a filter of posts', () => {
  it('compares the tag in the form in which tags are stored', () => {
    expect(parsePostFilter({ tag: ' News', title: 'News' }).filter).toEqual({ tag: 'news', title: 'News' });
    expect(parsePostFilter({ tag: null }).filter).toEqual({ tag: null });
  });
});
