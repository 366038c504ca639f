/** Operations with denied fields where `DENIED_FIELDS=unprotected`, in both engines: they are executed whole, counted and logged. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { type AccessSettings, PERSON, subgraphs, tokenOf, writeAccessSettings } from './harbours.ts';

let settings: AccessSettings;
beforeAll(async () => {
  settings = await writeAccessSettings();
});
afterAll(() => settings.remove());

const WARNING = 'authorization.deniedFields is unprotected: @authenticated, @requiresScopes and @policy protect nothing';
const readLines = ({ gateway }: Federation, message: string) =>
  gateway.lines.filter((line) => line.includes(`"msg":"${message}`)).map((line) => JSON.parse(line) as Record<string, unknown>);

describe.each(['trestle', 'apollo'])('an operation with denied fields that are unprotected, in the engine %s', (engine) => {
  let federation: Federation;
  beforeAll(async () => {
    const env = { ...settings.env, DENIED_FIELDS: 'unprotected' };
    federation = await startFederation(subgraphs, { env, args: ['--auth', 'on', '--engine', engine] });
  });
  afterAll(() => federation.stop());

  const ask = async (query: string, token?: string, variables?: Record<string, unknown>) =>
    federation.ask(query, variables, token === undefined ? {} : { authorization: `Bearer ${token}` });
  const reportsOf = (operation: string) =>
    readLines(federation, 'denied fields are returned').filter((line) => line['operation'] === operation);

  it('makes the gateway warn at its start', async () => {
    await until(() => Promise.resolve(readLines(federation, WARNING).length > 0));
    expect(readLines(federation, WARNING)).toEqual([expect.objectContaining({ level: 'warn' })]);
  });

  it('is executed whole for an anonymous caller, counted and logged', async () => {
    const { status, body } = await ask('query Open { harbours { name fee crane } }');
    expect([status, body.errors]).toEqual([200, undefined]);
    expect(body.data?.['harbours']).toEqual([{ name: 'Hamburg', fee: 100, crane: expect.anything() }]);
    await until(() => Promise.resolve(reportsOf('Open').length === 1));
    expect(reportsOf('Open')[0]).toMatchObject({
      ...{ level: 'warn', code: 'UNAUTHORIZED', coordinates: 'Harbour.fee Harbour.crane', count: 2 },
      requestId: expect.any(String),
    });
    const metrics = await (await fetch(`${federation.gateway.url}/metrics`)).text();
    expect(metrics).toContain('trestle_operations_unprotected_total{operation="Open",code="UNAUTHORIZED"} 1');
  });

  it('is reported with the code of the caller, each time', async () => {
    for (let i = 0; i < 2; i++) expect((await ask('query Paid { harbours { fee } }', PERSON)).status).toBe(200);
    await until(() => Promise.resolve(reportsOf('Paid').length === 2));
    expect(reportsOf('Paid')[1]).toMatchObject({ code: 'FORBIDDEN', coordinates: 'Harbour.fee' });
  });

  it('is not reported for a caller who may read its fields, nor when its variables do not select them', async () => {
    const query = 'query Fine ($deep: Boolean!) { harbours { name fee @include(if: $deep) } }';
    await ask(query, tokenOf(['payments:read']), { deep: true });
    await ask(query, undefined, { deep: false });
    await ask(query, PERSON, { deep: true });
    await until(() => Promise.resolve(reportsOf('Fine').length > 0));
    expect(reportsOf('Fine')).toEqual([expect.objectContaining({ code: 'FORBIDDEN' })]);
  });
});

describe('authorization.deniedFields: unprotected', () => {
  it('protects fields again as soon as a changed configuration says so', async () => {
    const file = join(settings.home, 'trestle.yaml');
    const choose = async (mode: string) => {
      await writeFile(`${file}.next`, `authorization: { deniedFields: ${mode} }\n`);
      await rename(`${file}.next`, file);
    };
    await choose('remove');
    const federation = await startFederation(subgraphs, { env: settings.env, args: ['--auth', 'on', '--config', file] });
    const readDepth = async () => {
      const { data } = (await federation.ask('{ harbours { depth } }')).body;
      return (data?.['harbours'] as readonly { readonly depth: unknown }[])[0]?.depth;
    };
    expect(await readDepth()).toBeNull();
    expect(readLines(federation, WARNING)).toEqual([]);
    await choose('unprotected');
    await until(async () => typeof (await readDepth()) === 'number');
    await until(() => Promise.resolve(readLines(federation, WARNING).length === 1));
    const subscriber = subscribeTo(federation.gateway.url, { query: 'subscription Live { ticked { name depth } }', token: undefined });
    await until(() => Promise.resolve(readLines(federation, 'denied fields are returned').some((line) => line['operation'] === 'Live')));
    await subscriber.stop();
    await choose('remove');
    await until(async () => (await readDepth()) === null);
    await federation.stop();
  });

  it('must be remove, refuse or unprotected', async () => {
    const started = startFederation(subgraphs, { env: { ...settings.env, DENIED_FIELDS: 'dry_run' } });
    await expect(started).rejects.toThrow('DENIED_FIELDS: must be one of remove, refuse, unprotected');
  });
});
