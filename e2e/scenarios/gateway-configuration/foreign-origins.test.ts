/** Which pages' cookies reach subgraphs, by a setting and by a rule. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { QUERY, SOURCES } from './priced-lamps.ts';

const PAGE = 'https://app.example.com';

describe.each([
  ['headers.forward', 'headers: { forward: [Cookie, Origin] }'],
  ['rules', 'headers: { request: [{ propagate: Cookie }, { propagate: Origin }] }'],
])('Cookie and Origin, which subgraphs get by %s', (_, headers) => {
  let folder: string;
  let federation: Federation;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trestle-foreign-origins-'));
    const file = join(folder, 'trestle.yaml');
    await writeFile(file, `server: { corsOrigins: ['${PAGE}'] }\n${headers}\n`);
    federation = await startFederation(SOURCES, { args: ['--config', file] });
  });
  afterAll(async () => {
    await federation.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const seenWith = async (sent: Record<string, string>) => {
    federation.received.length = 0;
    expect((await federation.ask(QUERY, {}, { cookie: 'a=1', ...sent })).status).toBe(200);
    return federation.received.map(({ headers: { cookie, origin } }) => [cookie, origin]);
  };

  /** What each of the two subgraphs gets. */
  const both = (seen: readonly (string | undefined)[]) => [seen, seen];

  it('are those of pages whose origin is allowed, and of clients without an origin', async () => {
    expect(await seenWith({ origin: PAGE })).toEqual(both(['a=1', PAGE]));
    expect(await seenWith({})).toEqual(both(['a=1', undefined]));
  });

  it('are left out of requests of other pages', async () => {
    for (const origin of ['https://evil.example', 'null']) expect(await seenWith({ origin })).toEqual(both([undefined, undefined]));
  });
});
