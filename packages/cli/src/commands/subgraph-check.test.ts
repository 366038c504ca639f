/** `subgraph check` by a file of recorded operations. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { run } from '../run.ts';
import { createTerminal } from '../terminal.ts';

const OPERATION = {
  hash: 'h',
  name: null,
  text: '{ a b }',
  clients: [{ name: 'web', version: null, count: 500, lastSeen: '2026-01-30T10:00:00Z' }],
};

/** Checks the removal of `Query.b`, which the operation uses. Returns the exit code and the code of the error. */
async function check(operation: object): Promise<unknown[]> {
  const folder = await mkdtemp(join(tmpdir(), 'trestle-check-'));
  try {
    const path = (name: string) => join(folder, name);
    await writeFile(path('a.graphql'), 'type Query { a: Int b: Int }');
    await writeFile(path('next.graphql'), 'type Query { a: Int }');
    await writeFile(path('graph.yaml'), 'subgraphs: { a: { routing_url: "http://a.example", schema: { file: ./a.graphql } } }');
    await writeFile(path('operations.json'), JSON.stringify({ days: 30, operations: [operation] }));
    const written: string[] = [];
    const stream = { isTTY: false, write: (text: string) => written.push(text) };
    const terminal = createTerminal({ stdout: stream, stderr: stream } as unknown as Pick<NodeJS.Process, 'stdout' | 'stderr'>, {});
    const files = ['--against', path('graph.yaml'), '--operations', path('operations.json')];
    const code = await run(['subgraph', 'check', `a=${path('next.graphql')}`, ...files, '--json'], {}, terminal);
    const { error } = JSON.parse(written.join('')) as { error: { code: string } | null };
    return [code, error?.code ?? null];
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('subgraph check --operations', () => {
  it('fails for an operation that uses what is removed', async () => {
    expect(await check(OPERATION)).toEqual([1, null]);
    expect(await check({ ...OPERATION, seenInputs: ['By.name'] })).toEqual([1, null]);
  });

  it('refuses seenInputs that are no list of strings, instead of passing over the operation', async () => {
    for (const seenInputs of [5, 'By.name', [5], {}]) expect(await check({ ...OPERATION, seenInputs })).toEqual([2, 'INVALID_OPERATIONS']);
  });
});
