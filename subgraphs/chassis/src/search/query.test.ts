import { describe, expect, it } from '@jest/globals';
import { anyCharacter } from '@trestle/service/testing/test-characters';
import fc from 'fast-check';
import { MAX_WORDS, MAX_WORD_LENGTH, type SearchQuery, parseSearchQuery, termsOf } from './query.ts';

const parse = (written: string): SearchQuery => parseSearchQuery(written, 'q') ?? [];
/** Writes a query with a sign for each property of a term: `!` excluded, `"` phrase, `*` prefix. */
const show = (written: string): string =>
  parse(written)
    .map((terms) =>
      terms
        .map((term) => `${term.isExcluded ? '!' : ''}${term.isPhrase ? `"${term.written}"` : term.written}${term.isPrefix ? '*' : ''}`)
        .join(' & '),
    )
    .join(' | ');
const faultsOf = (written: string): string[] => {
  try {
    parse(written);
    return [];
  } catch (error) {
    const { code, details } = error as { code: string; details: { field: string; message: string }[] };
    return details.map(({ field, message }) => `${code} ${field} ${message}`);
  }
};

describe('parseSearchQuery', () => {
  it.each([
    ['bridge', 'bridge*'],
    ['old bridge', 'old & bridge*'],
    ['"old bridge" river', '"old bridge" & river*'],
    ['bridge -river', 'bridge & !river'],
    ['bridge -"old river"', 'bridge & !"old river"'],
    ['a b or c', 'a & b | c'],
    ['bridge OR tunnel road', 'bridge | tunnel & road*'],
    ['or bridge or', 'bridge*'],
    ['bridge or or tunnel', 'bridge | tunnel*'],
    ['"an open phrase', '"an open phrase"'],
    ['big"open phrase"', 'big & "open phrase"'],
    ['-- & | ! ( bridge ) :* <->', 'bridge*'],
    ['c', 'c'],
    ['', ''],
    ['  ', ''],
  ])('reads %j as %s', (written, expected) => {
    expect(show(written)).toBe(expected);
  });

  it.each([
    ['-- & |', 'must contain a letter or a digit'],
    ['"" or ""', 'must contain a letter or a digit'],
    ['-bridge', 'must have a word that is not excluded, on each side of `or`'],
    ['bridge or -river', 'must have a word that is not excluded, on each side of `or`'],
    ['a '.repeat(MAX_WORDS + 1), `must have at most 32 words, not 33`],
    ['a-'.repeat(MAX_WORDS + 1), `must have at most 32 words, not 33`],
    ['a'.repeat(MAX_WORD_LENGTH + 1), `must have words of at most 100 characters`],
  ])('refuses %j', (written, message) => {
    expect(faultsOf(written)).toEqual([`VALIDATION_ERROR q ${message}`]);
  });

  it('returns terms with words, no quotes and at most one prefix, or throws VALIDATION_ERROR, for any string', () => {
    const piece = fc.oneof(
      fc.constantFrom('"', '-', ' or ', ' ', 'OR', "'", '\\', ':*', '&', '|', '!', '\0'),
      fc.string({ unit: anyCharacter }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const written = pieces.join('');
        if (faultsOf(written).length > 0) return;
        const query = parse(written);
        const terms = termsOf(query);
        expect(query.every((alternative) => alternative.some(({ isExcluded }) => !isExcluded))).toBe(true);
        expect(terms.filter(({ isPrefix }) => isPrefix).length).toBeLessThanOrEqual(1);
        for (const term of terms) {
          expect(term.written).toMatch(/[\p{L}\p{N}]/u);
          expect(term.written).not.toContain('"');
          expect(written).toContain(term.written.split(/\s/)[0]);
        }
      }),
    );
  });

  it('takes linear time', () => {
    const started = process.cpuUsage();
    for (const sign of ['"', '-', ' -"', 'or ', '- ']) faultsOf(sign.repeat(100_000));
    // Of the processor: a busy machine makes it no slower.
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });
});
