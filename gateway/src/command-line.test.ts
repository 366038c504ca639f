import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readCommandLine } from './command-line.ts';

describe('readCommandLine', () => {
  it('returns every flag with its setting for --help', () => {
    const help = readCommandLine(['--help']).notice ?? '';
    for (const text of ['--supergraph FILE', '[SUPERGRAPH_PATH]', '--port N', '--host ADDRESS', '--auth on|off', '--introspection on|off'])
      expect(help).toContain(text);
    for (const text of ['start ', 'check ', 'init ', '--config FILE', '--set NAME=VALUE', '--engine trestle|apollo'])
      expect(help).toContain(text);
    expect(readCommandLine(['-h', '--port', '1']).notice).toBe(help);
  });

  it('returns the version of the package for --version', () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
    expect(readCommandLine(['--version']).notice).toBe(`${version}\n`);
  });

  it('returns the settings of the flags only', () => {
    const settings = { PORT: '0', SUPERGRAPH_PATH: 'a.graphql', TRESTLE_CONFIG: 'b.yaml' };
    expect(readCommandLine(['--port', '0', '--supergraph=a.graphql', '--config', 'b.yaml'])).toEqual({
      command: 'start',
      notice: undefined,
      settings,
    });
  });

  it('returns the command', () => {
    expect(readCommandLine(['check', '--port', '0']).command).toBe('check');
    expect(readCommandLine(['init']).command).toBe('init');
  });

  it('returns any setting of a configuration file that --set names', () => {
    const set = [
      'limits.maxDepth=20',
      'subgraphs.my-orders.url=http://h/?a=b',
      'documents.trustedOnly=true',
      'server.port=1',
      'supergraph.headers.X-Team=a b',
    ];
    expect(readCommandLine(set.flatMap((each) => ['--set', each])).settings).toEqual({
      MAX_DEPTH: '20',
      'SUBGRAPH_URL_MY-ORDERS': 'http://h/?a=b',
      TRUSTED_DOCUMENTS_ONLY: 'on',
      PORT: '1',
      'SUPERGRAPH_HEADER_X-TEAM': 'a b',
    });
  });

  it.each([
    ['an unknown flag', ['--nope'], '--nope'],
    ['an unknown command', ['serve'], "Unknown command 'serve'."],
    ['two commands', ['check', 'start'], 'Only one command'],
    [
      'an unknown setting of --set',
      ['--set', 'limits.maxDept=3'],
      "Unknown setting 'limits.maxDept' of --set; did you mean `limits.maxDepth`?",
    ],
    [
      'rules for headers in --set',
      ['--set', 'headers.request=[]'],
      "--set cannot set 'headers.request': rules for headers can be in a configuration file only.",
    ],
    [
      'rules for headers of a subgraph in --set',
      ['--set', 'subgraphs.orders.headers.response=[]'],
      "--set cannot set 'subgraphs.orders.headers.response': rules for headers can be in a configuration file only.",
    ],
    ['--set without a value', ['--set', 'limits.maxDepth'], '--set needs a setting'],
  ])('throws for %s, with the help', (_, args, message) => {
    expect(() => readCommandLine(args)).toThrow(message);
    expect(() => readCommandLine(args)).toThrow('Usage: trestle-gateway');
  });
});
