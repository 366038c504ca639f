import { describe, expect, it } from '@jest/globals';
import { run } from './run.ts';
import { createTerminal } from './terminal.ts';

/** Runs a command line. Returns the exit code and what was written. */
async function runWith(...args: readonly string[]): Promise<[number, string]> {
  const written: string[] = [];
  const stream = { isTTY: false, write: (text: string) => written.push(text) };
  const streams = { stdout: stream, stderr: stream } as unknown as Pick<NodeJS.Process, 'stdout' | 'stderr'>;
  return [await run(args, {}, createTerminal(streams, {})), written.join('')];
}

describe('run', () => {
  it('prints the version for --version', async () => {
    expect(await runWith('--version')).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });

  it('lists the commands for --help and for an empty command line', async () => {
    const [code, help] = await runWith('--help');
    expect([code, help]).toEqual([0, expect.stringContaining('subgraph check')]);
    expect(await runWith()).toEqual([0, help]);
  });

  it('ends with 2 for an unknown command, and names it', async () => {
    expect(await runWith('sing')).toEqual([2, expect.stringContaining('Unknown command "sing"')]);
  });

  it('names an unknown command of a group, in JSON too', async () => {
    expect(await runWith('subgraph', 'sing')).toEqual([2, expect.stringContaining('Unknown command "subgraph sing"')]);
    for (const args of [['subgraph'], ['subgraph', 'sing']]) {
      const [code, output] = await runWith(...args, '--json');
      expect([code, JSON.parse(output)]).toMatchObject([2, { data: null, error: { code: 'USAGE' } }]);
    }
  });

  it('lists the commands of a group, with code 0 when --help asks for them', async () => {
    expect(await runWith('subgraph')).toEqual([2, expect.stringContaining('subgraph check')]);
    expect(await runWith('subgraph', '--help')).toEqual([0, expect.not.stringContaining('launch list')]);
  });

  it.each([
    'launch rollback',
    'launch list',
    'subgraph list',
    'contract list',
    'operations list',
    'supergraph fetch',
    'supergraph compose',
  ])('ends with 2 for an argument of %s, such as an environment without --environment', async (words) => {
    const [code, output] = await runWith(...words.split(' '), 'staging');
    expect([code, output]).toEqual([2, `error ${words} takes options only, not "staging". See trestle ${words} --help.\n`]);
  });
});
