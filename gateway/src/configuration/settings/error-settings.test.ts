import { describe, expect, it } from '@jest/globals';
import { readErrorExtensions } from './error-settings.ts';

const PASS = { all: 'pass', bySubgraph: new Map() } as const;
const MASK = { all: 'mask', bySubgraph: new Map() } as const;

describe('readErrorExtensions', () => {
  it('reads the lists for all subgraphs, and those of single ones by their names in lower case', () => {
    const values = { SUBGRAPH_ERROR_EXTENSIONS_ALLOW: ['hint'] };
    const env = { SUBGRAPH_ERROR_EXTENSIONS_ALLOW_SHOP: 'a, b', SUBGRAPH_ERROR_EXTENSIONS_DENY_SHOP: 'c' };
    expect(readErrorExtensions(values, env, PASS)).toEqual({
      all: { allow: new Set(['hint']), deny: undefined },
      bySubgraph: new Map([['shop', { allow: new Set(['a', 'b']), deny: new Set(['c']) }]]),
    });
  });

  it('refuses to deny what every error has, and names that are too long', () => {
    const env = { SUBGRAPH_ERROR_EXTENSIONS_DENY_A: 'sql,code', SUBGRAPH_ERROR_EXTENSIONS_ALLOW_B: 'x'.repeat(129) };
    const read = () => readErrorExtensions({}, env, PASS);
    expect(read).toThrow('SUBGRAPH_ERROR_EXTENSIONS_DENY_A: must not have `code`: every error has it');
    expect(read).toThrow('SUBGRAPH_ERROR_EXTENSIONS_ALLOW_B: must have names of at most 128 characters');
  });

  it('refuses lists where errors are masked', () => {
    const values = { SUBGRAPH_ERROR_EXTENSIONS_DENY: ['sql'] };
    expect(() => readErrorExtensions(values, {}, MASK)).toThrow('SUBGRAPH_ERROR_EXTENSIONS_DENY: needs errors.show: codes or pass');
    const own = { all: 'pass', bySubgraph: new Map([['a', 'mask' as const]]) } as const;
    expect(() => readErrorExtensions({}, { SUBGRAPH_ERROR_EXTENSIONS_ALLOW_A: 'x' }, own)).toThrow(
      'SUBGRAPH_ERROR_EXTENSIONS_ALLOW_A: needs',
    );
    const other = { all: 'mask', bySubgraph: new Map([['a', 'codes' as const]]) } as const;
    expect(readErrorExtensions(values, { SUBGRAPH_ERROR_EXTENSIONS_ALLOW_A: 'x' }, other).bySubgraph.size).toBe(1);
  });
});
