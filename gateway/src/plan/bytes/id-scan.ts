/** Generates the part of a walker that reads an ID. The variables of the code are described in walker-code.ts. */
import { isIdType } from './required-key.ts';
import type { RequestedField } from './requested-object.ts';

/** The words that the code writes at most when an ID is a number: what precedes it, two quotes and its digits. */
const WORDS_OF_NUMBER = 8;

export interface IdScan {
  /** Statements that move `p` behind the ID, or return 0 when there is none. */
  readonly code: string;
  /** The most words that they write to the tape. */
  readonly words: number;
}

/**
 * Returns the statements that read an ID.
 *
 * An ID that is a number is written as a string (GraphQL §3.5.5): its digits are a piece between two quotes. The place of a value that a key needs is
 * without quotes, so that 1 and "1" are one entity.
 *
 * @param quoteAt the offset of a quote in the constants; undefined when the ID is not part of the result
 */
export function scanId({ type, register }: RequestedField, quoteAt: number | undefined): IdScan {
  const isInList = register !== undefined && !isIdType(type);
  const [start, end] = register === undefined || isInList ? ['', ''] : [`s${register}=`, `e${register}=`];
  const text = `if(b[p]===34){${start && `${start}p+1;`}p=scan.string(b,p+1);if(p===0)return 0;${end && `${end}p-1;`}}else{`;
  if (isInList) return { code: `${text}return 0;}`, words: 0 };
  const number = `${text}const d=p;p=scan.int(b,p);if(p===0)return 0;${start && `${start}d;${end}p;`}`;
  if (quoteAt === undefined) return { code: `${number}}`, words: 0 };
  const quote = `w[t++]=${quoteAt * 2};w[t++]=${quoteAt + 1};`;
  return { code: `${number}if(run<d<<1){w[t++]=run;w[t++]=d;}${quote}w[t++]=d<<1;w[t++]=p;${quote}run=p<<1;}`, words: WORDS_OF_NUMBER };
}
