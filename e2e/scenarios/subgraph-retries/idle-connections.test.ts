/** traffic.idleTimeoutMs of one subgraph: its connections are closed after this time, those of another subgraph stay. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { readMetric, until } from '../../stack/clients/client.ts';
import { startFederation } from '../../stack/federation/federation.ts';

const toSource = (field: string) => ({ sdl: `type Query { ${field}: Int }`, resolvers: { Query: { [field]: () => 1 } } });

it.each(['lean', 'undici'])('closes idle connections to one subgraph and keeps those to another: %s', async (client) => {
  const folder = await mkdtemp(join(tmpdir(), 'trestle-idle-'));
  const file = join(folder, 'trestle.yaml');
  await writeFile(
    file,
    `traffic: { client: ${client}, idleTimeoutMs: 600000 }\nsubgraphs: { brief: { traffic: { idleTimeoutMs: 100 } } }\n`,
  );
  const federation = await startFederation({ brief: toSource('a'), lasting: toSource('b') }, { args: ['--config', file] });
  federation.intercept = (_, __, response) => {
    // Longer than what the settings say.
    response.setHeader('keep-alive', 'timeout=600');
    return undefined;
  };
  const openTo = (subgraph: string) => readMetric(federation.gateway.url, `trestle_subgraph_connections_open{subgraph="${subgraph}"}`);
  expect((await federation.ask('{ a b }')).body).toEqual({ data: { a: 1, b: 1 } });
  await until(async () => (await openTo('brief')) === 0);
  expect(await openTo('lasting')).toBe(1);
  expect((await federation.ask('{ a b }')).body).toEqual({ data: { a: 1, b: 1 } });
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});
