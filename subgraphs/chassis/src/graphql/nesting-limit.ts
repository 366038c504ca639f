/** Limits how deep a request is nested, before recursive code reads it: the stack would overflow in some thousands of levels. No I/O. */
import { fail } from '@trestle/schema/errors';
import { isDeeperThan } from '@trestle/service/messages/json-depth';

/** The most levels of a document, and of its variables. The gateway accepts 256 from its clients, and adds a few. */
export const MAX_NESTING = 500;

/** The parameters of an operation, as they were received. */
export interface ReceivedParameters {
  readonly query?: unknown;
  /** An object; a string in a GET. */
  readonly variables?: unknown;
}

/** Throws VALIDATION_ERROR for a document or variables that are nested deeper than {@link MAX_NESTING} levels. */
export function limitNesting({ query, variables }: ReceivedParameters): void {
  if (typeof query === 'string' && isTextDeeper(query)) throw tooDeep('The document is');
  if (typeof variables === 'string' ? isTextDeeper(variables) : isDeeperThan(variables, MAX_NESTING)) throw tooDeep('`variables` is');
}

function tooDeep(subject: string): Error {
  return fail('VALIDATION_ERROR', `${subject} nested deeper than the limit of ${String(MAX_NESTING)} levels.`);
}

const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, QUOTE, HASH, BACKSLASH] = [0x7b, 0x7d, 0x5b, 0x5d, 0x22, 0x23, 0x5c];
const LINE_END = /[\n\r]/g;
const BLOCK_QUOTE = '"""';

/** Counts the brackets of GraphQL or JSON, except those in strings and comments. Parentheses are never nested in each other. */
function isTextDeeper(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = text.startsWith(BLOCK_QUOTE, at) ? endOfBlock(text, at) : endOfString(text, at);
    else if (code === HASH) at = endOfLine(text, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > MAX_NESTING) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return false;
}

/** Returns the index of the closing quote, or of the end of the line, where the parser stops (GraphQL specification §2.9.4). */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE || code === 0x0a || code === 0x0d) return at;
  }
  return text.length;
}

/** Returns the index of the last closing quote of a block string, which may contain `\"""`. */
function endOfBlock(text: string, start: number): number {
  let end = text.indexOf(BLOCK_QUOTE, start + 3);
  while (end >= 0 && text.charCodeAt(end - 1) === BACKSLASH) end = text.indexOf(BLOCK_QUOTE, end + 3);
  return end < 0 ? text.length : end + 2;
}

function endOfLine(text: string, start: number): number {
  LINE_END.lastIndex = start;
  return LINE_END.exec(text)?.index ?? text.length;
}
