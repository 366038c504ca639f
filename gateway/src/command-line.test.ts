import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readFlags, readNotice } from './command-line.ts';

describe('readNotice and readFlags', () => {
  it('return every flag with its setting for --help', () => {
    const help = readNotice(['--help']) ?? '';
    for (const text of ['--supergraph FILE', '[SUPERGRAPH_PATH]', '--port N', '--host ADDRESS', '--auth on|off', '--introspection on|off'])
      expect(help).toContain(text);
    expect(readNotice(['-h', '--port', '1'])).toBe(help);
  });

  it('return the version of the package for --version', () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
    expect(readNotice(['--version'])).toBe(`${version}\n`);
  });

  it('return the settings of the flags only', () => {
    expect(readFlags(['--port', '0', '--supergraph=a.graphql'])).toEqual({ PORT: '0', SUPERGRAPH_PATH: 'a.graphql' });
    expect(readNotice(['--port', '0'])).toBeUndefined();
  });

  it('throw for an unknown flag, with the help', () => {
    expect(() => readFlags(['--nope'])).toThrow(/--nope[^]*Usage: trestle-gateway/);
  });
});
