/** Tests: subscriptions of the operator, whose events invalidate results. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, until } from '../../stack/clients/client.ts';
import { startGateway } from '../../stack/federation/federation.ts';
import { type RunningProcess, startProcess } from '../../stack/processes/process.ts';
import { ask, federation, folder, fresh } from './lamp-system.ts';
import { renamed, state } from './lamps.ts';

const AUTHORIZATION = 'Bearer of-the-operator';

describe('events of subscriptions', () => {
  let gateway: RunningProcess;
  /** What the subgraph received with the subscription. */
  let credentials: readonly unknown[];
  const fileOf = async (text: string) => {
    const file = join(folder, 'cache-events.graphql');
    await writeFile(file, text);
    return file;
  };
  const open = () => readMetric(gateway.url, 'trestle_response_cache_subscriptions');
  const events = () => readMetric(gateway.url, 'trestle_response_cache_events_total{operation="Renamed"}');
  const nameOf = async (query: string) => JSON.stringify((await ask(query, {}, { url: `${gateway.url}/graphql` })).body);

  beforeAll(async () => {
    const supergraph = join(folder, 'supergraph.graphql');
    gateway = await startGateway(['--supergraph', supergraph, '--port', '0', '--auth', 'off'], {
      RESPONSE_CACHE: 'memory',
      RESPONSE_CACHE_SUBSCRIPTIONS_FILE: await fileOf('subscription Renamed { renamed { cacheTag: tag lamp { id } } }'),
      RESPONSE_CACHE_SUBSCRIPTIONS_AUTHORIZATION: AUTHORIZATION,
    });
    const find = () => federation.received.filter(({ query }) => query.includes('renamed'));
    await until(async () => (await open()) === 1 && find().length > 0);
    credentials = find().map(({ headers }) => headers.authorization);
  });
  afterAll(async () => {
    await gateway.end('SIGTERM');
  });

  /** Publishes an event and waits until the gateway has received it. */
  async function publish(event: { readonly id: string; readonly tag: string | null }): Promise<void> {
    const before = await events();
    renamed.publish(event);
    await until(async () => (await events()) === (Number.isNaN(before) ? 1 : before + 1));
  }

  it('are received with the Authorization of the operator', () => {
    expect(credentials).toEqual([AUTHORIZATION]);
  });

  it('invalidate results with objects of the types in the event, and no others', async () => {
    state.name = 'before';
    const [lamp, other] = [fresh('{ lamp { name } }'), fresh('{ other { name } }')];
    for (const query of [lamp, other]) expect(await nameOf(query)).toContain('before');
    state.name = 'after';
    for (const query of [lamp, other]) expect(await nameOf(query)).toContain('before');
    await publish({ id: '1', tag: null });
    expect(await nameOf(lamp)).toContain('after');
    expect(await nameOf(other)).toContain('before');
  });

  it('invalidate results by the tags that the event has as `cacheTag`', async () => {
    federation.intercept = (_, __, response) => {
      response.setHeader('cache-tag', 'lamp-9');
    };
    state.name = 'tagged';
    const query = fresh('{ other { name } }');
    expect(await nameOf(query)).toContain('tagged');
    state.name = 'changed';
    await publish({ id: '9', tag: 'lamp-8' });
    expect(await nameOf(query)).toContain('tagged');
    await publish({ id: '9', tag: 'lamp-9' });
    expect(await nameOf(query)).toContain('changed');
  });

  it('invalidate everything when the subscription begins again after the subgraph was away', async () => {
    state.name = 'kept';
    const query = fresh('{ other { name } }');
    expect(await nameOf(query)).toContain('kept');
    state.name = 'missed';
    await federation.halt('lamps');
    await federation.revive('lamps');
    await until(async () => (await nameOf(query)).includes('missed'));
    expect(await open()).toBe(1);
  });

  it('are named in the errors of a start, with what is wrong in the file', async () => {
    const refused = startProcess('gateway', {
      GATEWAY_PORT: '0',
      AUTH: 'off',
      SUPERGRAPH_FILE: join(folder, 'supergraph.graphql'),
      RESPONSE_CACHE: 'memory',
      RESPONSE_CACHE_SUBSCRIPTIONS_FILE: await fileOf('{ lamp { name } }'),
    });
    await expect(refused).rejects.toThrow('RESPONSE_CACHE_SUBSCRIPTIONS_FILE: must have named subscriptions only');
  });
});
