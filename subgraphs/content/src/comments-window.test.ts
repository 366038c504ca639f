import { describe, expect, it } from '@jest/globals';
import { createIds } from '@trestle/chassis/values/ids';
import { readCommentsWindow } from './comments-window.ts';

const id = createIds({ now: Date.now })('cmt');

describe('the arguments of Post.comments', () => {
  it('are 10 comments from the start unless told otherwise', () => {
    expect(readCommentsWindow({})).toMatchObject({ limit: 10, after: undefined, backward: false });
    expect(readCommentsWindow({ limit: null, after: null })).toMatchObject({ limit: 10, after: undefined });
    expect(readCommentsWindow({ limit: 100 })).toMatchObject({ limit: 100 });
  });

  it('name the comment to go on from by its id or by its cursor', () => {
    const cursor = Buffer.from(JSON.stringify(['id+', id])).toString('base64url');
    expect(readCommentsWindow({ after: id }).after).toEqual([id]);
    expect(readCommentsWindow({ after: cursor }).after).toEqual([id]);
  });

  it('take `first` in place of a `limit` that the client did not give', () => {
    expect(readCommentsWindow({ limit: 10, first: 3 })).toMatchObject({ limit: 3 });
    expect(readCommentsWindow({ limit: null, first: 3, hasLimit: true })).toMatchObject({ limit: 3 });
    expect(readCommentsWindow({ limit: 4, first: null, hasLimit: true })).toMatchObject({ limit: 4 });
  });

  it.each([
    [{ limit: 10, first: 3, hasLimit: true }, ['first']],
    [{ limit: 10, first: 101 }, ['first']],
    [{ limit: 0 }, ['limit']],
    [{ limit: 101 }, ['limit']],
    [{ after: 'nonsense' }, ['after']],
    [{ after: id.replace('cmt', 'pst') }, ['after']],
    [{ limit: -1, after: 'cmt_1' }, ['limit', 'after']],
  ])('refuse %j and name %j', (args, fields) => {
    let fault: unknown;
    try {
      readCommentsWindow(args);
    } catch (error) {
      fault = error;
    }
    expect(fault).toMatchObject({ code: 'VALIDATION_ERROR', details: fields.map((field) => ({ field })) });
  });
});
