import { describe, expect, it } from '@jest/globals';
import { readParameter, splitOutsideQuotes } from './parameters.ts';

describe('splitOutsideQuotes', () => {
  it.each([
    ['', ['']],
    ['a;b; c', ['a', 'b', ' c']],
    ['a=";";b', ['a=";"', 'b']],
    [String.raw`a="\";";b="\\";c`, [String.raw`a="\";"`, String.raw`b="\\"`, 'c']],
    ['a=";b;c=";"', ['a="', 'b', 'c=";"']],
  ])('splits %j into %j', (value, expected) => {
    expect(splitOutsideQuotes(value, ';')).toEqual(expected);
  });

  it('splits a large value in time linear in its size', () => {
    const value = '\\'.repeat(500_000) + '";'.repeat(500_000);
    const startedAt = process.cpuUsage();
    splitOutsideQuotes(value, ';');
    expect(process.cpuUsage(startedAt).user / 1e6).toBeLessThan(1);
  });
});

describe('readParameter', () => {
  it.each([
    [['a=1', ' Name = x ', 'name=y'], 'x'],
    [['name="a b"'], 'a b'],
    [[String.raw`name="\"a\\\b"`], String.raw`"a\b`],
    [['name=""'], ''],
    [['name="'], undefined],
    [['name=a b'], undefined],
    [['name'], undefined],
    [[], undefined],
  ])('reads `name` of %j as %j', (parameters, expected) => {
    expect(readParameter(parameters, 'name')).toBe(expected);
  });
});
