/** The members of a response around its data (GraphQL §7.1), without white space. Walkers check the data. */
import type { SubgraphError } from '../../program/result.ts';
import type { ResponseBody } from '../execute.ts';
import { scanAny } from './scanners.ts';

export type Errors = readonly SubgraphError[];

/** What stands before the data. */
export interface EnvelopeHead {
  /** Where the data start; undefined for a response without data. */
  readonly dataAt: number | undefined;
  /** Undefined when they do not come first. */
  readonly errors: Errors | undefined;
}

const DATA = Buffer.from('{"data":');
const NULL = Buffer.from('null');
const ERRORS_FIRST = Buffer.from('{"errors":');
const DATA_NEXT = Buffer.from(',"data":');
const ERRORS_NEXT = Buffer.from(',"errors":');
const CLOSING_BRACE = 0x7d;
const NO_ERRORS: Errors = [];

/** Returns undefined for a response with other members. */
export function readHead({ bytes, start, end }: ResponseBody): EnvelopeHead | undefined {
  if (isAt(bytes, start, DATA)) return { dataAt: start + DATA.length, errors: undefined };
  if (!isAt(bytes, start, ERRORS_FIRST)) return undefined;
  const from = start + ERRORS_FIRST.length;
  const to = scanAny(bytes, from, 0);
  const errors = to === 0 || to > end ? undefined : parseErrors(bytes, from, to);
  if (!errors) return undefined;
  if (isAt(bytes, to, DATA_NEXT)) return { dataAt: to + DATA_NEXT.length, errors };
  return isEnd({ bytes, start: to, end }) ? { dataAt: undefined, errors } : undefined;
}

/** Whether the data are null. */
export function isNullAt(bytes: Buffer, at: number): boolean {
  return isAt(bytes, at, NULL);
}

/** The length of null data. */
export const NULL_BYTES = NULL.length;

/** Returns the errors of a response with data that end at `start`; undefined where other members follow. `first` are those before the data. */
export function readTail(rest: ResponseBody, first: Errors | undefined): Errors | undefined {
  if (isEnd(rest)) return first ?? NO_ERRORS;
  const { bytes, start, end } = rest;
  if (first || bytes[end - 1] !== CLOSING_BRACE || !isAt(bytes, start, ERRORS_NEXT)) return undefined;
  return parseErrors(bytes, start + ERRORS_NEXT.length, end - 1);
}

/** Returns undefined for anything but a list of errors, or null. */
function parseErrors(bytes: Buffer, from: number, to: number): Errors | undefined {
  try {
    const errors = JSON.parse(bytes.toString('utf8', from, to)) as unknown;
    if (errors === null) return NO_ERRORS;
    return Array.isArray(errors) ? (errors as Errors) : undefined;
  } catch {
    return undefined;
  }
}

function isEnd({ bytes, start, end }: ResponseBody): boolean {
  return start === end - 1 && bytes[start] === CLOSING_BRACE;
}

function isAt(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}
