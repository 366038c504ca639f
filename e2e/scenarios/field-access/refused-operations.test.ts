/** Operations with denied fields where `DENIED_FIELDS=refuse`, in both engines: nothing of them is executed. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { type AccessSettings, PERSON, subgraphs, tokenOf, writeAccessSettings } from './harbours.ts';

let settings: AccessSettings;
beforeAll(async () => {
  settings = await writeAccessSettings();
});
afterAll(() => settings.remove());

const start = (engine: string) =>
  startFederation(subgraphs, { env: { ...settings.env, DENIED_FIELDS: 'refuse' }, args: ['--auth', 'on', '--engine', engine] });

describe.each(['trestle', 'apollo'])('an operation with denied fields, in the engine %s', (engine) => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await start(engine);
  });
  afterAll(() => federation.stop());
  afterEach(() => void federation.received.splice(0));

  const ask = async (query: string, token?: string, variables?: Record<string, unknown>) => {
    const reply = await federation.ask(query, variables, token === undefined ? {} : { authorization: `Bearer ${token}` });
    const errors = (reply.body.errors ?? []).map(({ path, extensions: { code, coordinate } }) => [path?.join('.'), code, coordinate]);
    return { status: reply.status, challenge: reply.headers.get('www-authenticate'), errors, body: reply.body };
  };

  it('is refused with 401 and an error for each field when the caller is anonymous, and nothing is fetched', async () => {
    const { status, challenge, errors, body } = await ask('{ harbours { name depth crane } }');
    expect([status, challenge]).toEqual([401, 'Bearer realm="api"']);
    expect(errors).toEqual([
      ['harbours.@.depth', 'UNAUTHORIZED', 'Harbour.depth'],
      ['harbours.@.crane', 'UNAUTHORIZED', 'Harbour.crane'],
    ]);
    expect('data' in body).toBe(false);
    expect(federation.received).toEqual([]);
  });

  it('is refused with 403 and the scopes that the credential lacks', async () => {
    const { status, challenge, body } = await ask('{ harbours { crane fee } }', PERSON);
    expect([status, challenge]).toEqual([403, 'Bearer realm="api", error="insufficient_scope", scope="cranes:operate payments:read"']);
    expect(body.errors?.[0]).toMatchObject({
      extensions: { reason: 'insufficient_scope', requiredScopes: ['cranes:operate'], requestId: expect.any(String) },
    });
  });

  it('is refused with 403 when a policy does not hold', async () => {
    const { status, challenge, errors } = await ask('{ log }', PERSON);
    expect([status, challenge, errors]).toEqual([403, null, [['log', 'FORBIDDEN', 'Query.log']]]);
  });

  it('does not change anything when it is a mutation of which one field is denied', async () => {
    expect((await ask('mutation { rename(name: "Altona") { name crane } }', PERSON)).status).toBe(403);
    expect(federation.received).toEqual([]);
  });

  it('is executed when its variables do not select the denied fields', async () => {
    const query = 'query ($deep: Boolean = true) { harbours { name depth @include(if: $deep) } }';
    expect((await ask(query)).status).toBe(401);
    expect((await ask(query, undefined, { deep: false })).body).toEqual({ data: { harbours: [{ name: 'Hamburg' }] } });
  });

  it('is executed for a caller who may read all of its fields', async () => {
    const { body } = await ask('{ harbours { name fee } }', tokenOf(['payments:read']));
    expect(body).toEqual({ data: { harbours: [{ name: 'Hamburg', fee: 100 }] } });
  });
});

describe('a subscription with denied fields', () => {
  it('is refused at once', async () => {
    const federation = await start('trestle');
    const subscriber = subscribeTo(federation.gateway.url, { query: 'subscription { ticked { name depth } }', token: undefined });
    expect(await subscriber.end()).toMatchObject({ codes: ['UNAUTHORIZED'] });
    expect(federation.received).toEqual([]);
    await federation.stop();
  });
});
