/** Prints the line of a fault with a mark below its column. */
import { type Paint, stripControl } from './terminal.ts';

/** Longer lines are cut around the column. */
const WIDTH = 120;
const BEFORE = 1;

/** Returns the lines around a place, with a mark at the column; both count from 1. Empty when the text has no such line. */
export function codeFrame(text: string, place: { readonly line: number; readonly column: number }, paint: Paint): string {
  const lines = text.split(/\r\n|\n|\r/u);
  if (place.line < 1 || place.line > lines.length) return '';
  const from = Math.max(1, place.line - BEFORE);
  // Shown from here on, so that the column is visible in a long line.
  const start = Math.max(0, place.column - WIDTH + 20);
  const gutter = String(place.line).length;
  const shown = lines.slice(from - 1, place.line).map((line, index) => {
    const content = stripControl(line.slice(start, start + WIDTH)).replaceAll('\t', ' ');
    return `${paint.dim(`${String(from + index).padStart(gutter)} |`)} ${content}`.trimEnd();
  });
  const mark = `${paint.dim(`${' '.repeat(gutter)} |`)} ${' '.repeat(Math.max(0, place.column - 1 - start))}${paint.red('^')}`;
  return [...shown, mark].map((line) => `  ${line}`).join('\n');
}
