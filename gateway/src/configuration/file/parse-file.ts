/** Parses a configuration file: YAML, JSON, or a module. Bounded in the work for nesting and aliases. */
import { Document, Lexer, LineCounter, type YAMLError, isAlias, parseDocument, visit } from 'yaml';
import { importDefault } from '../../modules/import-module.ts';
import type { FileFault } from './file-fault.ts';

/** `alias.resolve` searches the whole document. */
const MAX_ALIASES = 100;
const MAX_DEPTH = 64;

/** A parsed file. */
export interface ParsedFile {
  readonly document: Document | Document.Parsed;
  /** Undefined for a module. */
  readonly text: string | undefined;
  readonly faults: readonly FileFault[];
  /** Returns the line and column of an offset; undefined for a module, whose source is not parsed. */
  readonly locate: (offset: number) => { readonly line: number; readonly column: number } | undefined;
}

/** Parses the text of a file in YAML or JSON. Never throws. */
export function parseText(text: string): ParsedFile {
  const lines = new LineCounter();
  const locate = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  if (isTooDeep(text)) {
    const fault = { path: '', message: `is nested more than ${String(MAX_DEPTH)} levels deep`, offset: undefined };
    return { document: new Document(), text, faults: [fault], locate };
  }
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false, stringKeys: true, schema: 'core' });
  // The errors behind the first one follow from it: after a missing bracket every line has one.
  const [error] = document.errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const faults = [...(error ? [error] : []), ...document.warnings].map((each) => toFault(each, text));
  return { document, text, faults: [...faults, ...checkAliases(document)], locate };
}

/**
 * Returns whether brackets, or the indicators of one line, are nested too deep. The parser calls itself for each level, and 100,000 of them end the
 * process. Levels that are made by indentation need so many spaces that the limit of bytes suffices.
 */
function isTooDeep(text: string): boolean {
  let brackets = 0;
  let indicators = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') brackets += 1;
    else if (token === ']' || token === '}') brackets -= 1;
    else if (token === '\n') indicators = 0;
    // Between brackets there are colons beside each other.
    else if (brackets <= 0 && (token === '-' || token === '?' || token === ':')) indicators += 1;
    if (brackets > MAX_DEPTH || indicators > MAX_DEPTH) return true;
  }
  return false;
}

/** Executes a module, and returns its default export. Rejects with the reason when that is not possible. */
export async function loadModule(file: string): Promise<ParsedFile> {
  const value = await importDefault(file);
  if (typeof value !== 'object' || value === null) throw new Error('must export an object as its default');
  return { document: new Document(value, { aliasDuplicateObjects: true }), text: undefined, faults: [], locate: () => undefined };
}

function checkAliases(document: Document.Parsed): FileFault[] {
  let count = 0;
  visit(document, {
    Alias: () => {
      count += 1;
    },
  });
  return count > MAX_ALIASES ? [{ path: '', message: `has more than ${String(MAX_ALIASES)} aliases`, offset: 0 }] : [];
}

/** The messages of the parser quote the file, which may contain secrets. */
const SYNTAX: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_ALIAS: 'an alias or anchor is not valid',
  BAD_DQ_ESCAPE: 'a string in double quotes has an invalid escape sequence',
  BAD_INDENT: 'the indentation is wrong, or a bracket is missing',
  BAD_SCALAR_START: 'a string must be quoted',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping is not allowed here: a colon or a line break is missing, or a string must be quoted',
  MISSING_CHAR: 'a character is missing, such as a closing quote, bracket or colon',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line, with a colon after it',
  MULTIPLE_DOCS: 'a file must have one document',
  NON_STRING_KEY: 'keys must be strings',
  TAB_AS_INDENT: 'tabs must not be used for indentation',
  TAG_RESOLVE_FAILED: 'tags are not supported',
  UNEXPECTED_TOKEN: 'a character is not expected here',
};

function toFault({ code, pos: [offset] }: YAMLError, text: string): FileFault {
  // The brace of an unquoted variable begins a mapping there.
  const isVariable = code === 'UNEXPECTED_TOKEN' && text.startsWith('${', offset - 1);
  const message = isVariable ? 'a variable must be quoted between brackets: "${NAME}"' : (SYNTAX[code] ?? `is not well-formed (${code})`);
  return { path: '', message, offset };
}

/** Returns the node that an alias stands for; any other node as it is. */
export function follow(node: unknown, document: ParsedFile['document']): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}
