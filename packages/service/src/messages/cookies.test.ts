import { expect, it } from '@jest/globals';
import { readCookies } from './cookies.ts';

it('readCookies returns the values of all cookies with exactly this name, in their order', () => {
  expect(readCookies('a=1; b=2;a = x=y ; aa=3; A=4; a', 'a')).toEqual(['1', 'x=y']);
  expect(readCookies('a=', 'a')).toEqual(['']);
  for (const header of [undefined, '', 'b=a', 'a']) expect(readCookies(header, 'a')).toEqual([]);
});
