import { describe, expect, it } from '@jest/globals';
import { parseTokenSources } from './parse-token-sources.ts';

describe('parseTokenSources', () => {
  it('reads places in their order, with authorization first where the list does not name it', () => {
    const header = { kind: 'header', name: 'x-token', prefix: 'Bearer' };
    expect(parseTokenSources('header:X-Token:Bearer, cookie:Session')).toEqual([
      { kind: 'authorization' },
      header,
      { kind: 'cookie', name: 'Session' },
    ]);
    expect(parseTokenSources('cookie:s authorization')).toEqual([{ kind: 'cookie', name: 's' }, { kind: 'authorization' }]);
  });

  it.each([
    ['an unknown kind', 'query:token'],
    ['no name', 'cookie:'],
    ['a name with a line break', 'header:a\r\nb:c'],
    ['a name that is no token', 'cookie:a;b'],
    ['a prefix of a cookie', 'cookie:a:Bearer'],
    ['too many parts', 'header:a:b:c'],
    ['the header of cookies', 'header:Cookie'],
    ['the header of API keys', 'header:X-API-Key'],
    ['a header that browsers set', 'header:Sec-Fetch-Site'],
    ['a header of the message', 'header:Content-Type'],
    ['a place twice', 'header:a,header:A'],
    ['nine places', Array.from({ length: 9 }, (_, i) => `cookie:c${String(i)}`).join(',')],
    ['a long name', `cookie:${'a'.repeat(129)}`],
  ])('refuses %s', (_, text) => {
    expect(() => parseTokenSources(text)).toThrow(/^must/);
  });
});
