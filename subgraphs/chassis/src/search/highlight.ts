/** Reads what `ts_headline` marked in a string. No I/O. */

/** A part of a highlighted string, and whether it matches the query. */
export interface HighlightPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Characters for private use. They are taken out of the string before it is marked, so that no document can contain a mark of its own. */
export const MARKS = { start: '\u{E000}', stop: '\u{E001}' } as const;

/** Returns the parts of a marked string, in their order; none is empty. */
export function toHighlightParts(marked: string): HighlightPart[] {
  return marked.split(MARKS.start).flatMap((piece, i) => {
    if (i === 0) return toPart(piece, false);
    const [match = '', ...rest] = piece.split(MARKS.stop);
    return [...toPart(match, true), ...toPart(rest.join(''), false)];
  });
}

/** Returns the parts as HTML: everything is escaped but the element `mark` around each match. */
export function toHighlightHtml(parts: readonly HighlightPart[]): string {
  return parts.map(({ text, isMatch }) => (isMatch ? `<mark>${escapeHtml(text)}</mark>` : escapeHtml(text))).join('');
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

function toPart(text: string, isMatch: boolean): HighlightPart[] {
  return text === '' ? [] : [{ text, isMatch }];
}
