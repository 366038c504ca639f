/** Shared caches of others before one server, those that are installed: they keep what `Cache-Control` allows. */
// cspell:ignore varnishd
import { spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { type Front, findProgram, hasNginx, startNginxCache, toFront } from './front.ts';

export type CacheName = 'nginx' | 'varnish';

const VARNISH = findProgram('varnishd');
const INSTALLED: Readonly<Record<CacheName, boolean>> = { nginx: hasNginx, varnish: VARNISH !== undefined };

/** All caches that are tested, and whether each is installed. */
export const CACHES: readonly { readonly name: CacheName; readonly isInstalled: boolean }[] = (['nginx', 'varnish'] as const).map(
  (name) => {
    if (!INSTALLED[name]) process.stderr.write(`\n*** NO CACHE: ${name} is not installed. It is not tested before a server. ***\n\n`);
    return { name, isInstalled: INSTALLED[name] };
  },
);

/** Starts a cache before a server. `X-Cache` of a response is `HIT` when it came from the cache. Throws where the cache is not installed. */
export async function startCache(name: CacheName, port: number): Promise<Front> {
  if (name === 'nginx') return startNginxCache(port);
  if (VARNISH === undefined) throw new Error('Varnish is not installed');
  return startVarnish(VARNISH, port);
}

/** With its default rules, which are those of shared caches: only the header that names a hit is added. */
async function startVarnish(path: string, server: number): Promise<Front> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-varnish-'));
  const port = await reserveTestPort();
  const rules = `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${String(server)}"; }
sub vcl_deliver { if (obj.hits > 0) { set resp.http.X-Cache = "HIT"; } else { set resp.http.X-Cache = "MISS"; } }
`;
  await writeFile(join(home, 'rules.vcl'), rules);
  const args = ['-F', '-a', `127.0.0.1:${String(port)}`, '-f', join(home, 'rules.vcl'), '-n', join(home, 'state'), '-s', 'malloc,16m'];
  // Started by root, Varnish would otherwise change to another user, which may not read the rules.
  const child = spawn(path, ['-j', 'none', ...args], { stdio: 'ignore' });
  return toFront(child, { home, port });
}
