/** The command line of `registry:token`. */
import { describe, expect, it } from '@jest/globals';
import { TOKEN_SCOPES } from '../records.ts';
import { USAGE, parseArguments } from './arguments.ts';

describe('parseArguments', () => {
  it.each(TOKEN_SCOPES)('takes the scope %s, which the usage and the message about another one name', (scope) => {
    const name = scope.toLowerCase();
    expect(parseArguments(['--name', 'ci', '--scope', name])).toMatchObject({ scopes: [scope] });
    expect(USAGE).toMatch(new RegExp(`\\b${name}\\b`, 'u'));
    expect(() => parseArguments(['--name', 'ci', '--scope', 'none'])).toThrow(new RegExp(`\\b${name}\\b`, 'u'));
  });
});
