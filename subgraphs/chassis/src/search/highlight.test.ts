import { describe, expect, it } from '@jest/globals';
import { anyCharacter } from '@trestle/service/testing/test-characters';
import fc from 'fast-check';
import { MARKS, toHighlightHtml, toHighlightParts } from './highlight.ts';

const unmarked = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll(MARKS.start, '').replaceAll(MARKS.stop, ''));

describe('a highlight', () => {
  it('has the strings between the marks as matches', () => {
    const parts = toHighlightParts(`The ${MARKS.start}old${MARKS.stop} ${MARKS.start}bridge${MARKS.stop}`);
    expect(parts).toEqual([
      { text: 'The ', isMatch: false },
      { text: 'old', isMatch: true },
      { text: ' ', isMatch: false },
      { text: 'bridge', isMatch: true },
    ]);
    expect(toHighlightHtml(parts)).toBe('The <mark>old</mark> <mark>bridge</mark>');
  });

  it('keeps every character of any string, and has no element but mark in its HTML', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ before: unmarked, match: unmarked })), unmarked, (pieces, end) => {
        const marked = pieces.map(({ before, match }) => before + MARKS.start + match + MARKS.stop).join('') + end;
        const parts = toHighlightParts(marked);
        expect(parts.map(({ text }) => text).join('')).toBe(pieces.map(({ before, match }) => before + match).join('') + end);
        expect(parts.filter(({ isMatch }) => isMatch).map(({ text }) => text)).toEqual(
          pieces.map(({ match }) => match).filter((match) => match !== ''),
        );
        expect(toHighlightHtml(parts).replaceAll(/<\/?mark>/g, '')).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/);
      }),
    );
  });

  it('escapes markup of documents', () => {
    const parts = toHighlightParts(`${MARKS.start}<img src=x onerror="a('b')">${MARKS.stop} & <mark>`);
    expect(toHighlightHtml(parts)).toBe('<mark>&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;</mark> &amp; &lt;mark&gt;');
  });
});
