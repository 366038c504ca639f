/** `trestle-gateway check` for what could never take effect: lists of addresses without use, and labels of `@override` that are never active. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compose } from '../../stack/federation/federation.ts';

const COMMAND = fileURLToPath(new URL('../../../gateway/bin/trestle-gateway.mjs', import.meta.url));
const A = 'http://a.test/graphql';
const SOURCES = {
  before: { sdl: 'type Query { motto: String }' },
  after: { sdl: 'type Query { motto: String @override(from: "before", label: "percent(20)") }' },
};

let folder: string;
let sdl: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-check-'));
  sdl = await compose(SOURCES, {});
  await writeFile(join(folder, 'good.graphql'), sdl);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the command on files of the folder; returns its exit code and what it reports. */
async function check(text: string, env: Readonly<Record<string, string>> = {}): Promise<readonly [code: unknown, stderr: string]> {
  await writeFile(join(folder, 'check.yaml'), text);
  const args = [COMMAND, 'check', '--config', 'check.yaml', '--auth', 'off'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env: { PATH: process.env['PATH'], ...env } }, (error, _, stderr) => {
      resolve([error?.code ?? 0, stderr]);
    });
  });
}

describe('trestle-gateway check', () => {
  const FILE = 'supergraph: { file: good.graphql }\n';

  it.each([
    ['no address', '[]', 'must list an address'],
    ['an address twice', `[${A}, "http://b.test/", ${A}]`, 'must not list an address twice: number 3 is a duplicate'],
    ['an address in two ways of writing', `[${A}, "http://A.test:80/graphql"]`, 'must not list an address twice: number 2 is a duplicate'],
  ])('exits with 1 when the addresses of a subgraph are %s', async (_, urls, fault) => {
    const [code, stderr] = await check(`${FILE}subgraphs:\n  after: { urls: ${urls} }`);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`check.yaml:3:18: subgraphs.after.urls: ${fault}`)]);
  });

  it('exits with 1 when an environment variable lists an address of a subgraph twice', async () => {
    const [code, stderr] = await check(FILE, { SUBGRAPH_URLS_AFTER: `${A},${A}` });
    expect([code, stderr]).toEqual([1, expect.stringContaining('SUBGRAPH_URLS_AFTER: must not list an address twice')]);
  });

  it.each(['percent(x)', 'percent(101)', 'percent(-1)'])('exits with 2 for a supergraph with the label %s of @override', async (label) => {
    expect(await check(FILE)).toEqual([0, '']);
    await writeFile(join(folder, 'bad.graphql'), sdl.replaceAll('percent(20)', label));
    const [code, stderr] = await check('supergraph: { file: bad.graphql }');
    expect([code, stderr]).toEqual([2, expect.stringContaining(`bad.graphql: The supergraph is not valid: the label \`${label}\``)]);
  });
});
