import { describe, expect, it } from '@jest/globals';
import { mergeHeaders } from './response-headers.ts';

describe('mergeHeaders', () => {
  it('joins Vary of both in one line, because nginx before 1.23 caches by the last line alone', () => {
    expect(mergeHeaders(['etag', '"1"', 'vary', 'Accept'], ['vary', 'Origin', 'x-frame-options', 'DENY'])).toEqual([
      ...['etag', '"1"', 'vary', 'Accept, Origin'],
      ...['x-frame-options', 'DENY'],
    ]);
    expect(mergeHeaders({ Vary: 'Accept' }, ['vary', 'Origin'])).toEqual(['Vary', 'Accept, Origin']);
    expect(mergeHeaders({ etag: 'vary' }, ['vary', 'Origin'])).toEqual(['etag', 'vary', 'vary', 'Origin']);
  });

  it('prefers what the writer sends of the headers that it may replace', () => {
    expect(mergeHeaders(['retry-after', '1'], ['retry-after', '2', 'x-a', 'b'])).toEqual(['retry-after', '1', 'x-a', 'b']);
  });
});
