/** Signed requests: what a server that verifies signatures gets, by each client. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ExpectedSignature, findSignatureFault } from '@trestle/http-client/verify-signature';
import { type Credentials, CredentialsError } from './signing/credentials.ts';
import { createRequestSigner } from './signing/request-signer.ts';
import { DEFAULT_SIGNING, type SigningSettings } from './signing/signing-settings.ts';
import { UpstreamFixture, createContext, failure } from './test-upstream.ts';
import { UPSTREAM_CLIENTS } from './traffic/traffic-settings.ts';

const KEY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };
const EXPECTED: ExpectedSignature = { keys: { AKIDEXAMPLE: { secret: 'secret' } }, region: 'eu-central-1', service: 'execute-api' };
const DATA = '{"data":{"a":1}}';

describe.each(UPSTREAM_CLIENTS)('a fetch that is signed, by the client %s', (client) => {
  const fixture = new UpstreamFixture(client);
  afterEach(() => fixture.close());

  /** Starts a subgraph that verifies each signature before `answer` is called. */
  const listen = async (
    answer: (response: ServerResponse, request: IncomingMessage, body: string) => void = (response) => response.end(DATA),
    expected = EXPECTED,
  ) => {
    const faults: (string | undefined)[] = [];
    const url = await fixture.listen((request, response) => {
      const chunks: Buffer[] = [];
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const body = Buffer.concat(chunks);
          faults.push(findSignatureFault(request, body, expected));
          response.setHeader('content-type', 'application/json');
          answer(response, request, body.toString());
        });
    });
    return { url, faults };
  };
  const signed = (own: Partial<SigningSettings> = {}, read: () => Promise<Credentials> = () => Promise.resolve(KEY)) => ({
    signing: {
      all: { ...DEFAULT_SIGNING, enabled: true, region: 'eu-central-1', service: 'execute-api', ...own },
      bySubgraph: new Map(),
    },
    signers: (signing: Parameters<typeof createRequestSigner>[0]) => createRequestSigner(signing, read),
  });

  it.each(['{"query":"{a}"}', '{"query":"{a(b:\\"äöü€😀\\")}"}', `{"query":"{a(b:\\"${'x'.repeat(100_000)}\\")}"}`])(
    'has a signature that the subgraph verifies, in place of the credential of the caller: %#',
    async (body) => {
      const { url, faults } = await listen();
      expect(await fixture.open(url, signed()).fetch(body)).toEqual({ data: { a: 1 } });
      expect(faults).toEqual([undefined]);
    },
  );

  it('covers path and query as they are sent', async () => {
    const { url, faults } = await listen();
    await fixture.open(`${url}/a%20b/é?z=1&a=%2F&a=b&empty=`, signed()).fetch('{}');
    expect(faults).toEqual([undefined]);
  });

  it('takes a compressed response', async () => {
    const { url, faults } = await listen((response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(DATA)));
    expect(await fixture.open(url, { ...signed(), hasCompression: true }).fetch('{}')).toEqual({ data: { a: 1 } });
    expect(faults).toEqual([undefined]);
  });

  it('is signed again when it is sent again', async () => {
    const dates: unknown[] = [];
    const { url, faults } = await listen((response, { headers, socket }) => {
      dates.push(headers['x-amz-date']);
      if (dates.length === 1) socket.destroy();
      else if (dates.length === 2) response.end(DATA);
      else if (dates.length === 3) response.writeHead(503, { 'retry-after': '1' }).end();
      else response.end(DATA);
    });
    const { fetch } = fixture.open(url, { ...signed(), limits: { retryStatuses: [503] } });
    expect(await fetch('{}')).toEqual({ data: { a: 1 } });
    expect(await fetch('{}')).toEqual({ data: { a: 1 } });
    expect(faults).toEqual([undefined, undefined, undefined, undefined]);
    expect(dates[2]).not.toBe(dates[3]);
  });

  it('is signed for the host of the address that it goes to', async () => {
    const broken = await listen((_, { socket }) => socket.destroy());
    const working = await listen();
    const { fetch } = fixture.open('http://unused.invalid/', {
      ...signed(),
      urlLists: new Map([['stock', [broken.url, working.url]]]),
      limits: { retryPercent: 0 },
    });
    for (let i = 0; i < 4; i++) expect(await fetch('{}')).toEqual({ data: { a: 1 } });
    expect(broken.faults).toEqual([undefined, undefined]);
    expect(working.faults).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('is signed with the body that is sent in place of a document', async () => {
    const bodies: string[] = [];
    const { url, faults } = await listen((response, _, body) => {
      bodies.push(body);
      response.end(body.includes('"query"') ? DATA : '{"errors":[{"message":"PersistedQueryNotFound"}]}');
    });
    await fixture.open(url, { ...signed(), limits: { persistedQueries: true } }).fetch('{"query":"{a}"}');
    expect(bodies).toHaveLength(2);
    expect(faults).toEqual([undefined, undefined]);
  });

  it('fails without being sent when there are no credentials, and names none of them', async () => {
    const { url, faults } = await listen();
    const { fetch, metrics } = fixture.open(
      url,
      signed({}, () => Promise.reject(new CredentialsError('none'))),
    );
    expect(await failure(fetch('{}'))).toEqual({ code: 'UPSTREAM_ERROR', message: 'The request to the subgraph Stock failed.' });
    expect(faults).toEqual([]);
    expect(await metrics.metrics()).toContain('code="UNSIGNED"');
  });

  it('does not wait for credentials beyond its time limit, nor after its client has disconnected', async () => {
    const { url, faults } = await listen();
    const { fetch } = fixture.open(url, { ...signed({}, () => new Promise(() => undefined)), limits: { timeoutMs: 100 } });
    expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    let provide: (credentials: Credentials) => void = () => undefined;
    const late = fixture.open(
      url,
      signed({}, () => new Promise((resolve) => (provide = resolve))),
    );
    const context = createContext();
    const fetched = failure(late.fetch('{}', context));
    context.cancellation.cancel();
    expect(await fetched).toMatchObject({ code: 'UPSTREAM_ERROR' });
    provide(KEY);
    await new Promise(setImmediate);
    expect(faults).toEqual([]);
  });
});
