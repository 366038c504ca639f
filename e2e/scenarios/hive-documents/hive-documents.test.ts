/** Documents of Hive's app deployments, which the gateway looks up on Hive's CDN; compared with Hive's own client. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Reply, request, until, untilLogged } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { type Answer, type Federation, type FederationOptions, startFederation } from '../../stack/federation/federation.ts';
import { type HiveCdn, startHiveCdn } from '../../stack/federation/hive-cdn.ts';
import { createHive } from '../../stack/collectors/hive-client.ts';
import { startReportReceiver } from '../../stack/collectors/report-receiver.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';

const KEY = 'hv_hunter2';
const SOURCES = {
  ships: {
    sdl: 'type Query { ship(id: ID = "1"): String } type Mutation { sink: String } type Subscription { arrivals: Int }',
    resolvers: {
      Query: { ship: (_: unknown, { id }: { id: string }) => `Ship ${id}` },
      Mutation: { sink: () => 'sunk' },
      // eslint-disable-next-line @typescript-eslint/require-await -- a generator that waits for nothing
      Subscription: { arrivals: { subscribe: async function* arrivals() { yield { arrivals: 1 }; } } }, // prettier-ignore
    },
  },
};
const DOCUMENTS = {
  'web/1.0.0/ship': 'query Ship($id: ID) { ship(id: $id) }',
  'web/1.0.0/sha256:abc_-1': '{ ship }',
  'web/1.0.0/sink': 'mutation { sink }',
  'web/1.0.0/arrivals': 'subscription { arrivals }',
  'web/1.0.0/wrong': '{ whale }',
  'my.app/1.0.0-beta.1/ship': '{ ship(id: "2") }',
};

const opened: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.stop();
});

async function startCdn(): Promise<HiveCdn> {
  const cdn = await startHiveCdn(KEY, DOCUMENTS);
  opened.push(cdn);
  return cdn;
}

async function start(endpoints: string, env: Record<string, string> = {}, options: FederationOptions = {}): Promise<Federation> {
  const hive = { HIVE_DOCUMENTS_ENDPOINT: endpoints, HIVE_DOCUMENTS_KEY: KEY };
  const federation = await startFederation(SOURCES, { ...options, env: { ...hive, ...env } });
  opened.push(federation);
  return federation;
}

type Asked = Reply & { body: Answer };
async function post({ url }: Federation, body: unknown, headers: Record<string, string> = {}): Promise<Asked> {
  const accept = 'application/graphql-response+json';
  return (await request(url, { method: 'POST', body, headers: { accept, ...headers } })) as Asked;
}
const codesOf = ({ errors = [] }: Answer) => errors.map(({ extensions }) => extensions['code']);
const summarize = ({ status, body }: Asked) => ({ status, data: body.data, codes: codesOf(body) });
const NOT_FOUND = { status: 404, data: undefined, codes: ['NOT_FOUND'] };
const UNAVAILABLE = { status: 503, data: undefined, codes: ['SERVICE_UNAVAILABLE'] };

describe('a document of an app deployment', () => {
  let cdn: HiveCdn;
  let federation: Federation;
  beforeAll(async () => {
    cdn = await startHiveCdn(KEY, DOCUMENTS);
    const env = { HIVE_DOCUMENTS_ENDPOINT: cdn.endpoint, HIVE_DOCUMENTS_KEY: KEY, MAX_BATCH: '5' };
    federation = await startFederation(SOURCES, { env: { ...env, TRUSTED_DOCUMENTS_ONLY: 'on', TRUSTED_DOCUMENTS_REQUIRE_ID: 'on' } });
  });
  afterAll(async () => {
    await federation.stop();
    await cdn.stop();
  });

  it('is read with the key, once, for requests by POST and by GET', async () => {
    const posted = await post(federation, { documentId: 'web~1.0.0~ship', variables: { id: '7' } });
    expect(summarize(posted)).toEqual({ status: 200, data: { ship: 'Ship 7' }, codes: [] });
    expect(cdn.lastHeaders()).toMatchObject({ 'x-hive-cdn-key': KEY });
    const search = new URLSearchParams({ documentId: 'web~1.0.0~ship', variables: '{"id":"8"}' });
    const got = (await request(`${federation.url}?${search.toString()}`, { method: 'GET' })) as Asked;
    expect(summarize(got)).toEqual({ status: 200, data: { ship: 'Ship 8' }, codes: [] });
    expect(cdn.requested.filter((path) => path.endsWith('/ship'))).toEqual(['/apps/web/1.0.0/ship']);
  });

  it('is executed in a batch', async () => {
    const ids = ['my.app~1.0.0-beta.1~ship', 'web~1.0.0~sha256:abc_-1', 'web~1.0.0~missing'];
    const { body } = await post(
      federation,
      ids.map((documentId) => ({ documentId })),
      { accept: 'application/json' },
    );
    const answers = body as unknown as Answer[];
    expect(answers.map(({ data }) => data)).toEqual([{ ship: 'Ship 2' }, { ship: 'Ship 1' }, undefined]);
    expect(codesOf(answers[2] as Answer)).toEqual(['NOT_FOUND']);
  });

  it('that is a mutation is refused by GET, and executed by POST', async () => {
    const got = (await request(`${federation.url}?documentId=web~1.0.0~sink`, { method: 'GET' })) as Asked;
    expect(summarize(got)).toMatchObject({ status: 405 });
    expect(summarize(await post(federation, { documentId: 'web~1.0.0~sink' }))).toMatchObject({ status: 200, data: { sink: 'sunk' } });
  });

  it('is a subscription by server-sent events and by multipart responses', async () => {
    const url = `${federation.url}?documentId=web~1.0.0~arrivals`;
    const stream = await openEventStream(url, {});
    await until(() => Promise.resolve(stream.isOver));
    expect(stream.events.map(({ event, data }) => [event, data])).toEqual([
      ['next', { data: { arrivals: 1 } }],
      ['complete', undefined],
    ]);
    const parts = await openEventStream(url, { accept: 'multipart/mixed;subscriptionSpec=1.0' });
    await until(() => Promise.resolve(parts.isOver));
    expect(parts.text).toContain('{"payload":{"data":{"arrivals":1}}}');
  });

  it('is a subscription or a query over a WebSocket, which gets an error for an unknown id', async () => {
    const socket = await openSocket(federation.url);
    const run = async (id: string, documentId: string) => {
      socket.send({ id, type: 'subscribe', payload: { documentId } });
      return socket.next((message) => message.id === id);
    };
    expect(await run('1', 'web~1.0.0~arrivals')).toMatchObject({ type: 'next', payload: { data: { arrivals: 1 } } });
    expect(await run('2', 'web~1.0.0~ship')).toMatchObject({ type: 'next', payload: { data: { ship: 'Ship 1' } } });
    socket.send({ id: '4', type: 'subscribe', payload: { query: '', documentId: 'web~1.0.0~arrivals' } });
    expect(await socket.next(({ id }) => id === '4')).toMatchObject({ type: 'next', payload: { data: { arrivals: 1 } } });
    expect(await run('3', 'web~1.0.0~unknown')).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'NOT_FOUND' } }] });
    await socket.close();
  });

  it('is validated as any other', async () => {
    expect(summarize(await post(federation, { documentId: 'web~1.0.0~wrong' }))).toMatchObject({
      status: 400,
      codes: ['VALIDATION_ERROR'],
    });
  });

  it('is refused as text where ids are required', async () => {
    const text = DOCUMENTS['web/1.0.0/ship'];
    expect(summarize(await post(federation, { query: text }))).toMatchObject({ status: 403, codes: ['FORBIDDEN'] });
  });

  it('is looked up once for an id that does not exist', async () => {
    for (let i = 0; i < 3; i++) expect(summarize(await post(federation, { documentId: 'web~1.0.0~nothing' }))).toEqual(NOT_FOUND);
    expect(cdn.requested.filter((path) => path.endsWith('/nothing'))).toHaveLength(1);
  });

  it.each([
    'ship',
    'web~1.0.0',
    'web~1.0.0~ship~more',
    '~1.0.0~ship',
    'web~~ship',
    'web~..~ship',
    '..~1.0.0~ship',
    '...~1.0.0~ship',
    'web~1.0.0~..',
    'web~1.0.0~../supergraph',
    'web/1.0.0~a~ship',
    'web~1.0.0~ship?a',
    'web~1.0.0~ship#a',
    'web~1.0.0~%2e%2e',
    'web~1.0.0~ship\n',
    'web~1.0.0~sh ip',
    `web~1.0.0~${'a'.repeat(129)}`,
    `${'a'.repeat(257)}~1.0.0~ship`,
  ])('is not looked up by the id %j', async (documentId) => {
    const before = cdn.requested.length;
    expect(summarize(await post(federation, { documentId }))).toEqual(NOT_FOUND);
    expect(cdn.requested).toHaveLength(before);
  });
});

describe('the look-up of a document', () => {
  it('is one for all requests that wait for it', async () => {
    const cdn = await startCdn();
    const federation = await start(cdn.endpoint);
    let release: () => void = () => undefined;
    cdn.intercept = (response) => (release = () => response.end('{ ship }'));
    const asked = Array.from({ length: 20 }, () => post(federation, { documentId: 'web~1.0.0~ship' }));
    await until(() => Promise.resolve(cdn.requested.length > 0));
    const last = post(federation, { documentId: 'web~1.0.0~ship' });
    // A request with its document does not wait for the look-up.
    expect(summarize(await post(federation, { query: '{ ship }' }))).toMatchObject({ data: { ship: 'Ship 1' } });
    release();
    for (const each of [...asked, last]) expect(summarize(await each)).toMatchObject({ data: { ship: 'Ship 1' } });
    expect(cdn.requested).toHaveLength(1);
  });

  it('fails with SERVICE_UNAVAILABLE while the CDN fails, except for documents that are known', async () => {
    const cdn = await startCdn();
    const federation = await start(cdn.endpoint);
    await post(federation, { documentId: 'web~1.0.0~sink' });
    cdn.intercept = (response) => response.writeHead(500).end('a secret');
    const refused = await post(federation, { documentId: 'web~1.0.0~ship' });
    expect([summarize(refused), refused.headers.get('retry-after')]).toEqual([UNAVAILABLE, '1']);
    expect(refused.body.errors?.[0]).toMatchObject({ extensions: { retryAfter: 1 } });
    expect(summarize(await post(federation, { documentId: 'web~1.0.0~sink' }))).toMatchObject({ data: { sink: 'sunk' } });
    const socket = await openSocket(federation.url);
    socket.send({ id: '1', type: 'subscribe', payload: { documentId: 'web~1.0.0~arrivals' } });
    expect(await socket.next()).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
    await socket.close();
    cdn.intercept = undefined;
    expect(summarize(await post(federation, { documentId: 'web~1.0.0~ship' }))).toMatchObject({ status: 200 });
    await untilLogged(federation.gateway, 'documents can be looked up again');
    const log = federation.gateway.lines.join('\n');
    expect(log.match(/documents cannot be looked up/g)).toHaveLength(1);
    expect(log).toContain('responded with the status 500');
    expect(log).not.toMatch(/hunter|a secret/);
    const { text } = await request(`${federation.gateway.url}/metrics`, { method: 'GET' });
    expect(text).toMatch(/trestle_document_lookups_total\{result="found"\} 2/);
    expect(text).toMatch(/trestle_document_lookups_total\{result="failed"\} 2/);
  });

  it.each([
    ['the key is wrong', { HIVE_DOCUMENTS_KEY: 'hv_hunter3' }, undefined],
    ['the CDN does not respond in time', { HIVE_DOCUMENTS_TIMEOUT_MS: '100' }, () => undefined],
    ['the document is larger than limits.maxBodyBytes', { MAX_BODY_BYTES: '1024' }, `{ ship }${' '.repeat(1024)}`],
    ['the document is empty', {}, ' '],
    ['the response is cut off', {}, undefined],
  ])('fails with SERVICE_UNAVAILABLE when %s', async (reason, env, instead) => {
    const cdn = await startCdn();
    const federation = await start(cdn.endpoint, env);
    if (typeof instead === 'function') cdn.intercept = instead;
    else if (instead !== undefined) cdn.intercept = (response) => response.end(instead);
    if (reason.includes('cut off'))
      cdn.intercept = (response) => response.writeHead(200, { 'content-length': 9 }).end('{ ship }', () => response.destroy());
    expect(summarize(await post(federation, { documentId: 'web~1.0.0~ship' }))).toEqual(UNAVAILABLE);
    expect(federation.received).toEqual([]);
    expect(federation.gateway.lines.join('\n')).not.toContain('hunter');
  });

  it('uses the mirror when the CDN fails', async () => {
    const [cdn, mirror] = [await startCdn(), await startCdn()];
    cdn.intercept = (response) => response.destroy();
    const federation = await start(`${cdn.endpoint},${mirror.endpoint}/supergraph`);
    expect(summarize(await post(federation, { documentId: 'web~1.0.0~ship' }))).toMatchObject({ status: 200 });
    expect(mirror.requested).toEqual(['/apps/web/1.0.0/ship']);
  });

  it('ends without effect for a client that has disconnected', async () => {
    const cdn = await startCdn();
    const federation = await start(cdn.endpoint);
    let release: () => void = () => undefined;
    cdn.intercept = (response) => (release = () => response.end('mutation { sink }'));
    const aborted = new AbortController();
    const body = JSON.stringify({ documentId: 'web~1.0.0~sink' });
    const headers = { 'content-type': 'application/json' };
    const sent = fetch(federation.url, { method: 'POST', headers, body, signal: aborted.signal }).catch(() => undefined);
    await until(() => Promise.resolve(cdn.requested.length > 0));
    aborted.abort();
    await sent;
    await until(() => Promise.resolve(federation.gateway.lines.some((line) => line.includes('499'))));
    release();
    cdn.intercept = undefined;
    expect(summarize(await post(federation, { documentId: 'web~1.0.0~ship' }))).toMatchObject({ status: 200 });
    expect(federation.received.map(({ query }) => query).join()).not.toContain('sink');
  });

  it('is reported to Hive with the id', async () => {
    const [cdn, receiver] = [await startCdn(), await startReportReceiver()];
    opened.push(receiver);
    const federation = await start(cdn.endpoint, {
      ...{ HIVE_ACCESS_TOKEN: 'hvo1/secret', HIVE_TARGET: 'a/b/c', HIVE_USAGE_ENDPOINT: receiver.url, USAGE_INTERVAL_MS: '100' },
    });
    await post(federation, { documentId: 'web~1.0.0~ship' }, { 'graphql-client-name': 'other', 'graphql-client-version': '2' });
    await until(() => Promise.resolve(receiver.received.length > 0));
    const report = JSON.parse(receiver.received[0]?.body ?? '') as { operations: object[] };
    expect(report.operations).toMatchObject([{ persistedDocumentHash: 'web~1.0.0~ship' }]);
    expect(report.operations[0]).not.toHaveProperty('metadata');
  });

  it('is that of the client of Hive', async () => {
    const [cdn, peer] = [await startCdn(), await startCdn()];
    const federation = await start(cdn.endpoint);
    const hive = await createHive({
      ...{ enabled: true, token: 'none', agent: { maxSize: 1, sendInterval: 10 }, usage: { target: 'a/b/c', endpoint: peer.endpoint } },
      persistedDocuments: { cdn: { endpoint: peer.endpoint, accessToken: KEY } },
    });
    const documents = hive.persistedDocuments;
    for (const id of Object.keys(DOCUMENTS).map((path) => path.replaceAll('/', '~'))) {
      expect(await documents?.resolve(id)).toBe(DOCUMENTS[id.replaceAll('~', '/') as keyof typeof DOCUMENTS]);
      await post(federation, { documentId: id });
    }
    expect(await documents?.resolve('web~1.0.0~none')).toBeNull();
    expect(summarize(await post(federation, { documentId: 'web~1.0.0~none' }))).toEqual(NOT_FOUND);
    expect(cdn.requested).toEqual(peer.requested);
    expect(cdn.lastHeaders()['x-hive-cdn-key']).toBe(peer.lastHeaders()['x-hive-cdn-key']);
    await hive.dispose();
  });
});
