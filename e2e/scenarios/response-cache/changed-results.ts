/** Tests: what a mutation ends, and what clients share. */
import { describe, expect, it } from '@jest/globals';
import { readMetric, until } from '../../stack/clients/client.ts';
import {
  type Headers,
  ADA,
  BOB,
  HIT,
  MINE,
  STORED,
  ask,
  createGate,
  entityGateways,
  federation,
  fetchesOf,
  fresh,
  nextNumber,
  sharing,
  statusOf,
} from './lamp-system.ts';
import { state } from './lamps.ts';

describe('a mutation', () => {
  it('is followed by no older result for its client, whatever it has changed', async () => {
    for (const headers of [{}, ADA]) {
      const queries = [fresh('{ lamp { name } }'), fresh('{ other { name } }'), ...(headers === ADA ? [fresh(MINE)] : [])];
      for (const query of queries) await ask(query, headers);
      const name = `name ${String(nextNumber())}`;
      await ask('mutation ($name: String!) { touch(name: $name) }', headers, { variables: { name } });
      for (const query of queries) expect((await ask(query, headers)).text).toContain(name);
    }
  });

  it.each<{ name: string; writes: Headers; reads: Headers }>([
    { name: 'with a credential', writes: { ...ADA, 'x-tenant': 'a' }, reads: ADA },
    { name: 'with a credential and another header', writes: { ...ADA, 'x-tenant': 'a' }, reads: { ...ADA, 'x-tenant': 'b' } },
    { name: 'without a credential', writes: { 'x-tenant': 'a' }, reads: {} },
    { name: 'without a credential and with another header', writes: {}, reads: { 'x-tenant': 'b' } },
  ])('is followed by no older result for a client that sends other headers with it: $name', async ({ writes, reads }) => {
    const query = fresh('{ lamp { name } }');
    const urls = [federation.url, ...[sharing, ...entityGateways].map(({ url }) => `${url}/graphql`)];
    for (const url of urls) {
      await ask(query, reads, { url });
      const name = `name ${String(nextNumber())}`;
      await ask('mutation ($name: String!) { touch(name: $name) }', writes, { variables: { name }, url });
      expect((await ask(query, reads, { url })).body.data).toEqual({ lamp: { name } });
    }
  });

  it('is followed by no older result when the query began before it and ends after it', async () => {
    const query = fresh('{ lamp { name } }');
    state.name = 'before';
    const gate = createGate();
    federation.intercept = async ({ query: text }) => {
      if (text.includes('mutation') || state.name !== 'before') return undefined;
      await gate.isOpen;
      return { data: { lamp: { name: 'before' } } };
    };
    const slow = ask(query);
    await until(() => Promise.resolve(federation.received.length === 1));
    await ask('mutation { touch(name: "after") }');
    const joined = ask(query);
    expect((await joined).body.data).toEqual({ lamp: { name: 'after' } });
    gate.open();
    expect((await slow).body.data).toEqual({ lamp: { name: 'before' } });
    expect((await ask(query)).body.data).toEqual({ lamp: { name: 'after' } });
  });

  it('is followed by no older result when a subgraph executes it after its response was given up', async () => {
    const query = fresh('{ lamp { name } }');
    const urls = [federation.url, ...[sharing, ...entityGateways].map(({ url }) => `${url}/graphql`)];
    for (const url of urls) {
      // A client of its own: its results are not kept for a while.
      const client = { authorization: `Basic ${String(nextNumber())}` };
      const read = async () => (await ask(query, client, { url })).body.data;
      state.name = `before ${String(nextNumber())}`;
      federation.intercept = ({ query: text }) => {
        if (text.includes('mutation')) throw new Error('The connection is lost');
        return undefined;
      };
      expect((await ask('mutation { touch(name: "late") }', client, { url })).body.errors).toHaveLength(1);
      const before = { lamp: { name: state.name } };
      // Kept for others, and not for this client.
      for (const headers of [client, BOB, client]) await ask(query, headers, { url });
      expect(await read()).toEqual(before);
      state.name = `late ${String(nextNumber())}`;
      expect(await read()).toEqual({ lamp: { name: state.name } });
      expect(statusOf(await ask(query, BOB, { url }))).toMatch(/; hit/);
    }
  });

  it('invalidates for all clients what has a type of its result, and nothing else', async () => {
    const [lamp, other] = [fresh('{ lamp { name } }'), fresh('{ other { name } }')];
    for (const query of [lamp, other]) await ask(query);
    await ask('mutation { rename(name: "changed") { id } }', BOB);
    expect((await ask(lamp)).body.data).toEqual({ lamp: { name: 'changed' } });
    expect(statusOf(await ask(other))).toMatch(HIT);
  });

  it('that fails invalidates what its own client gets, and nothing of others', async () => {
    const query = fresh('{ lamp { name } }');
    for (const headers of [ADA, BOB]) await ask(query, headers);
    await ask('mutation { fail { id } }', ADA);
    expect(await fetchesOf(query, ADA, BOB)).toEqual([1, 0]);
  });
});

describe('a response cache that all clients share', () => {
  const shared = async (query: string, headers: Headers = {}) => statusOf(await ask(query, headers, { url: `${sharing.url}/graphql` }));

  it('gives what is PUBLIC to every credential, what is PRIVATE to one, and both by headers that subgraphs get', async () => {
    const query = fresh('{ lamp { name } }');
    expect(await shared(query, ADA)).toBe(STORED);
    for (const headers of [BOB, {}]) expect(await shared(query, headers)).toMatch(HIT);
    expect(await shared(query, { ...ADA, 'x-tenant': 'a' })).toBe(STORED);
    const own = fresh('{ lamp { name } mine { name } }');
    expect([await shared(own, ADA), await shared(own, BOB)]).toEqual([STORED, STORED]);
    expect(await shared(own, ADA)).toMatch(HIT);
  });

  it('sends a stale result while one execution replaces it, keeps it when that fails, and sends none after a mutation', async () => {
    const query = fresh('{ brief }');
    const read = async (headers: Headers = {}) => ask(query, headers, { url: `${sharing.url}/graphql` });
    state.name = 'old';
    expect(statusOf(await read())).toBe(STORED);
    state.name = 'new';
    federation.intercept = () => ({ errors: [{ message: 'broken' }] });
    const before = federation.received.length;
    await until(async () => {
      const reply = await read();
      expect([reply.body.data, statusOf(reply)]).toEqual([{ brief: 'old' }, expect.stringMatching(/^Trestle; hit; ttl=/)]);
      return federation.received.length > before + 1;
    });
    federation.intercept = undefined;
    await until(async () => {
      const reply = await read();
      expect(statusOf(reply)).toMatch(/^Trestle; hit; ttl=/);
      return reply.body.data?.['brief'] === 'new';
    });
    await ask('mutation { touch(name: "newest") }', ADA, { url: `${sharing.url}/graphql` });
    expect((await read(ADA)).body.data).toEqual({ brief: 'newest' });
  });

  it('does not exceed its bytes, and keeps what was used last', async () => {
    const long = (length: number) => `{ long(length: ${String(length)}) }`;
    for (let i = 0; i < 40; i++) await shared(long(20_000 + i));
    const bytes = await readMetric(sharing.url, 'trestle_response_cache_bytes');
    expect(bytes).toBeGreaterThan(200_000);
    expect(bytes).toBeLessThanOrEqual(300_000);
    expect(await shared(long(20_039))).toMatch(HIT);
    expect(await shared(long(20_000))).toBe(STORED);
  });
});
