import { describe, expect, it } from '@jest/globals';
import { createIds } from '@trestle/chassis/values/ids';
import { parseCommentsWindow } from './window.ts';

const id = createIds({ now: Date.now })('cmt');

describe('the arguments of Post.comments', () => {
  it('default to the first 10 comments', () => {
    expect(parseCommentsWindow({})).toMatchObject({ limit: 10, after: undefined, backward: false });
    expect(parseCommentsWindow({ limit: null, after: null })).toMatchObject({ limit: 10, after: undefined });
    expect(parseCommentsWindow({ limit: 100 })).toMatchObject({ limit: 100 });
  });

  it('accept the id or the cursor of a comment as `after`', () => {
    expect(parseCommentsWindow({ after: id }).after).toEqual([id]);
    // The second is of before cursors named their list.
    for (const signature of ['comments:id+', 'id+']) {
      const cursor = Buffer.from(JSON.stringify([signature, id])).toString('base64url');
      expect(parseCommentsWindow({ after: cursor }).after).toEqual([id]);
    }
    const ofMessages = Buffer.from(JSON.stringify(['messages:id+', id])).toString('base64url');
    expect(() => parseCommentsWindow({ after: ofMessages })).toThrow('not valid');
  });

  it('accept `first` instead of a `limit` that the client did not send', () => {
    expect(parseCommentsWindow({ limit: 10, first: 3 })).toMatchObject({ limit: 3 });
    expect(parseCommentsWindow({ limit: null, first: 3, hasLimit: true })).toMatchObject({ limit: 3 });
    expect(parseCommentsWindow({ limit: 4, first: null, hasLimit: true })).toMatchObject({ limit: 4 });
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
      parseCommentsWindow(args);
    } catch (error) {
      fault = error;
    }
    expect(fault).toMatchObject({ code: 'VALIDATION_ERROR', details: fields.map((field) => ({ field })) });
  });
});
