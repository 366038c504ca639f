/** Deferred fragments by the clients that people use: nested, in lists, on objects with and without a key, failed, and cancelled. */
import { readFile } from 'node:fs/promises';
import { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { type Query, type WatchQuery, type Watched, createApollo, createRelay, createUrql } from './clients.ts';

const HARBOURS = [
  { code: 'HAM', name: 'Hamburg' },
  { code: 'RTM', name: 'Rotterdam' },
];
const key = { __resolveReference: (reference: object) => reference };
const sources = {
  harbours: {
    sdl: `type Query { harbours: [Harbour!]! settings: Settings! } type Settings { unit: String! motto: String! }
      type Harbour @key(fields: "code") { code: ID! name: String! }`,
    resolvers: {
      Query: {
        harbours: () => HARBOURS,
        settings: () => ({ unit: 'm', motto: 'Always afloat' }),
      },
    },
  },
  berths: {
    sdl: 'type Harbour @key(fields: "code") { code: ID! berths: [Berth!]! } type Berth @key(fields: "number") { number: ID! }',
    resolvers: { Harbour: { ...key, berths: ({ code }: { code: string }) => [{ number: `${code}1` }, { number: `${code}2` }] } },
  },
  ships: {
    sdl: 'type Berth @key(fields: "number") { number: ID! ship: String! guest: String }',
    resolvers: {
      Berth: {
        ...key,
        ship: ({ number }: { number: string }) => `Ship ${number}`,
        guest: ({ number }: { number: string }) => {
          if (number === 'RTM2') throw new Error('no guest');
          return `Guest ${number}`;
        },
      },
    },
  },
};

const define = (name: string, text: string, whole: string): Query => ({
  name,
  text: `query ${name} ${text}`,
  whole: `query ${name}Whole ${whole}`,
});
const NESTED = define(
  'portNestedQuery',
  `{ harbours { code name ...port_berths @defer(label: "berths") } }
  fragment port_berths on Harbour { berths { number ...port_ship @defer(label: "ship") } } fragment port_ship on Berth { ship }`,
  '{ harbours { code name berths { number ship } } }',
);
const PLAIN = define(
  'portPlainQuery',
  '{ settings { unit ...port_motto @defer } } fragment port_motto on Settings { motto }',
  '{ settings { unit motto } }',
);
const GUESTS = define(
  'portGuestsQuery',
  '{ harbours { code ...port_guests @defer } } fragment port_guests on Harbour { berths { number guest } }',
  '{ harbours { code berths { number guest } } }',
);

let federation: Federation;
const clients = new Map<string, WatchQuery>();
beforeAll(async () => {
  federation = await startFederation(sources, { env: { MAX_DEFERRED: '10' } });
  const { url } = federation;
  clients.set('Apollo Client in the format of 2022', createApollo(url, new Defer20220824Handler()));
  clients.set('Apollo Client in the current format', createApollo(url, new GraphQL17Alpha9Handler()));
  clients.set('urql', createUrql(url));
  clients.set('Relay', await createRelay(url, [NESTED, PLAIN, GUESTS]));
});
afterAll(() => federation.stop());
beforeEach(() => (federation.intercept = undefined));

/** Holds the responses of subgraphs back, and returns what releases those of one. */
function hold(...names: readonly string[]): (name: string) => void {
  const released = new Map<string, () => void>();
  const held = new Map(names.map((name) => [name, new Promise<void>((resolve) => released.set(name, resolve))]));
  federation.intercept = async ({ subgraph }) => {
    await held.get(subgraph);
  };
  return (name) => released.get(name)?.();
}

/** Waits until the client has data that the check accepts, and returns the last data. */
async function waitFor({ data, errors }: Watched, check: (last: unknown) => boolean): Promise<unknown> {
  await until(() => Promise.resolve(errors.length > 0 || (data.length > 0 && check(data.at(-1)))));
  expect(errors).toEqual([]);
  return data.at(-1);
}
const includes = (text: string) => (last: unknown) => JSON.stringify(last).includes(text);

describe.each(['Apollo Client in the format of 2022', 'Apollo Client in the current format', 'urql', 'Relay'])('%s', (name) => {
  const watch: WatchQuery = (query) => (clients.get(name) as WatchQuery)(query);

  it('gets a fragment within a fragment for each item of lists, one after the other', async () => {
    const release = hold('berths', 'ships');
    const watched = watch(NESTED);
    const first = await waitFor(watched, () => true);
    release('berths');
    const second = await waitFor(watched, includes('RTM2'));
    release('ships');
    const third = await waitFor(watched, includes('Ship RTM2'));
    const berths = (code: string) => [{ number: `${code}1` }, { number: `${code}2` }];
    expect(first).toMatchObject({ harbours: HARBOURS });
    expect(JSON.stringify(first)).not.toContain('number');
    expect(second).toMatchObject({ harbours: HARBOURS.map((each) => ({ ...each, berths: berths(each.code) })) });
    expect(JSON.stringify(second)).not.toContain('Ship');
    expect(third).toMatchObject({
      harbours: HARBOURS.map((each) => ({ ...each, berths: berths(each.code).map(({ number }) => ({ number, ship: `Ship ${number}` })) })),
    });
    watched.stop();
  });

  it('gets a fragment of an object without a key', async () => {
    const watched = watch(PLAIN);
    expect(await waitFor(watched, includes('motto'))).toMatchObject({ settings: { unit: 'm', motto: 'Always afloat' } });
    watched.stop();
  });

  it('keeps what it has when a fragment fails, and gets the error', async () => {
    federation.intercept = ({ subgraph }) => (subgraph === 'berths' ? { data: null, errors: [{ message: 'no berths' }] } : undefined);
    const watched = watch(NESTED);
    await until(() => Promise.resolve(watched.isEnded));
    expect(watched.data.at(-1)).toMatchObject({ harbours: HARBOURS });
    // urql 6 does not read the errors of `completed`.
    expect(watched.errors.map(String)).toEqual(name === 'urql' ? [] : [expect.stringContaining('no berths')]);
    watched.stop();
  });

  it('gets a fragment with the error of one field', async () => {
    const watched = watch(GUESTS);
    await until(() => Promise.resolve(watched.isEnded));
    const guests = [
      ['Guest HAM1', 'Guest HAM2'],
      ['Guest RTM1', null],
    ];
    expect(watched.data.at(-1)).toMatchObject({ harbours: guests.map((each) => ({ berths: each.map((guest) => ({ guest })) })) });
    // Relay reports errors of fields only where a directive asks for them.
    expect(watched.errors.map(String)).toEqual(name === 'Relay' ? [] : [expect.stringContaining('no guest')]);
    watched.stop();
  });

  it('cancels the fetch of a fragment when it unsubscribes', async () => {
    let isAborted = false;
    const before = federation.received.length;
    federation.intercept = ({ subgraph }, incoming) => {
      if (subgraph !== 'berths') return undefined;
      return new Promise((resolve) => {
        incoming.socket.once('close', () => {
          isAborted = true;
          resolve(undefined);
        });
      });
    };
    const watched = watch(NESTED);
    await waitFor(watched, () => true);
    await until(() => Promise.resolve(federation.received.slice(before).some(({ subgraph }) => subgraph === 'berths')));
    watched.stop();
    await until(() => Promise.resolve(isAborted));
  });
});

it('the documentation shows the network function of Relay that these tests use', async () => {
  const [code, page] = await Promise.all([
    readFile(new URL('relay-network.ts', import.meta.url), 'utf8'),
    readFile(new URL('../../../docs/gateway/incremental-delivery.md', import.meta.url), 'utf8'),
  ]);
  expect(page).toContain(code.slice(code.indexOf('import')));
});
