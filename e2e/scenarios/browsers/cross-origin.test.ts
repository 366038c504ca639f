/** Pages of listed and of other origins in Chromium: what they may send, read and open (spec §5.9, Fetch Standard §3.2). */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { describeInChromium, launchChromium } from '../../stack/clients/chromium.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { type OAuthSystem, leaseOAuthSystem } from '../oauth/oauth-system.ts';
import { type PageOrigin, serveOrigin } from './origins.ts';

const VIDEO = fileURLToPath(new URL('../../../local/demo/bridge.mp4', import.meta.url));

/** Resolves with the address of its content. */
async function publishVideo(): Promise<string> {
  const uploaded = await fetch(`${bridge.url}/v1/videos?title=Bridge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${system.ada.token}`, 'content-type': 'video/mp4' },
    body: await readFile(VIDEO),
  });
  const { id } = (await uploaded.json()) as { id: string };
  await system.stack.sql('content', `UPDATE videos SET status = 'PUBLISHED' WHERE id = $1`, [id]);
  return `${bridge.url}/v1/videos/${id}/content`;
}

/** What a script of a page learns of a response; `null` when the browser refuses to show it. */
type Seen = { readonly status: number; readonly body: unknown; readonly headers: Readonly<Record<string, string | undefined>> } | null;

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly cache?: 'no-store';
}

let system: OAuthSystem;
let bridge: RunningProcess;
let gateway: RunningProcess;
let limited: RunningProcess;
let listed: PageOrigin;
let foreign: PageOrigin;
/** The content of a published video. */
let media: string;

beforeAll(async () => {
  listed = await serveOrigin();
  foreign = await serveOrigin();
  system = await leaseOAuthSystem();
  const { stack } = system;
  const env = { CORS_ORIGINS: listed.origin };
  gateway = await stack.startGateway(env);
  bridge = await stack.startBridge(env);
  limited = await stack.startBridge({ ...env, RATE_LIMIT_ANONYMOUS_PER_MIN: '1' });
  media = await publishVideo();
});
afterAll(async () => {
  for (const { server } of [listed, foreign]) server.close();
  await system.stop();
});

describeInChromium('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    page = await browser.newPage();
  });
  afterEach(() => page.context().close());

  /** Sends a request with credentials from a script of the page. */
  const send = (url: string, init: Sent = {}): Promise<Seen> =>
    page.evaluate(
      async ([target, options]) => {
        try {
          const response = await fetch(target, { ...options, credentials: 'include' });
          const text = await response.text();
          return {
            status: response.status,
            body: text === '' ? null : (JSON.parse(text) as unknown),
            headers: Object.fromEntries(response.headers),
          };
        } catch {
          return null;
        }
      },
      [url, init] as const,
    );
  const bearer = () => ({ authorization: `Bearer ${system.ada.token}` });
  const json = { 'content-type': 'application/json' };

  describe('a page of a listed origin', () => {
    beforeEach(async () => {
      await page.goto(listed.origin);
    });

    it('sends requests with a preflight and credentials, and reads the headers of responses', async () => {
      const id = '3b2f0c1e-58f1-4f0e-8a37-0d8a1f6d9b11';
      const headers = { ...json, ...bearer(), 'idempotency-key': id, 'x-request-id': id };
      const created = await send(`${bridge.url}/v1/posts`, { method: 'POST', headers, body: '{"title":"A","body":""}' });
      expect([created?.status, created?.headers['x-request-id']]).toEqual([201, id]);
      const { location = '', etag = '' } = created?.headers ?? {};
      const changed = await send(`${bridge.url}${location}`, {
        method: 'PATCH',
        headers: { ...json, ...bearer(), 'if-match': etag },
        body: '{"title":"B"}',
      });
      expect([changed?.status, changed?.body]).toEqual([200, expect.objectContaining({ title: 'B' })]);
      const list = await send(`${bridge.url}/v1/products?limit=1`);
      expect(list?.headers).toMatchObject({
        link: expect.any(String),
        etag: expect.any(String),
        'x-ratelimit-limit': expect.any(String),
        'x-ratelimit-remaining': expect.any(String),
        'x-ratelimit-reset': expect.any(String),
        ratelimit: expect.any(String),
        'ratelimit-policy': expect.any(String),
        'api-version': '1',
      });
      const query = JSON.stringify({ query: '{ me { id } }' });
      expect((await send(`${gateway.url}/graphql`, { method: 'POST', headers: { ...json, ...bearer() }, body: query }))?.body).toEqual({
        data: { me: { id: system.ada.id } },
      });
    });

    it('reads errors: 401, 404, 405, 413, 429 with Retry-After, and those of GraphQL and the authorization server', async () => {
      const denied = await send(`${bridge.url}/v1/orders`);
      expect([denied?.status, denied?.headers['www-authenticate']]).toEqual([401, 'Bearer realm="api"']);
      expect((await send(`${bridge.url}/v1/nothing`))?.status).toBe(404);
      expect((await send(`${bridge.url}/v1/products`, { method: 'DELETE' }))?.headers['allow']).toContain('GET');
      const huge = { method: 'POST', headers: { ...json, ...bearer() }, body: JSON.stringify({ title: 'x'.repeat(1024 * 1024) }) };
      const tooLarge = await send(`${bridge.url}/v1/posts`, huge);
      expect([tooLarge?.status, tooLarge?.body]).toEqual([413, { error: expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }) }]);
      // The browser may keep the list of products for a while.
      const uncached = { cache: 'no-store' } as const;
      await send(`${limited.url}/v1/products`, uncached);
      const refused = await send(`${limited.url}/v1/products`, uncached);
      expect([refused?.status, Number(refused?.headers['retry-after'])]).toEqual([429, expect.any(Number)]);
      expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
      const invalid = await send(`${gateway.url}/graphql`, { method: 'POST', headers: json, body: '{"query":"{ nothing }"}' });
      expect(invalid?.body).toMatchObject({ errors: [{ extensions: { code: 'VALIDATION_ERROR' } }] });
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const grant = await send(`${bridge.url}/oauth/token`, { method: 'POST', headers: form, body: 'grant_type=authorization_code' });
      expect([grant?.status, grant?.body]).toEqual([400, expect.objectContaining({ error: 'invalid_request' })]);
      expect((await send(`${bridge.url}/.well-known/openid-configuration`))?.status).toBe(200);
    });

    it('embeds media by CORS alone: Cross-Origin-Resource-Policy refuses an element without the attribute', async () => {
      expect([await embed('anonymous'), await embed('use-credentials'), await embed(null)]).toEqual(['loaded', 'loaded', 'error']);
    });

    it('opens WebSockets and event streams', async () => {
      expect(await openSocket()).toBe('connection_ack');
      expect(await openStream()).toMatchObject({ data: { __typename: 'Query' } });
    });
  });

  describe('a page of another origin', () => {
    beforeEach(async () => {
      await page.goto(foreign.origin);
    });

    it('is refused requests with a preflight, and reads nothing of those without one', async () => {
      for (const url of [`${bridge.url}/v1/products`, `${gateway.url}/graphql?query={__typename}`, `${bridge.url}/.well-known/jwks.json`])
        expect(await send(url)).toBeNull();
      const before = await count();
      const body = '{"title":"Foreign","body":""}';
      expect(await send(`${bridge.url}/v1/posts`, { method: 'POST', headers: { ...json, ...bearer() }, body })).toBeNull();
      expect(await count()).toBe(before);
    });

    it('embeds no media', async () => {
      expect([await embed('anonymous'), await embed(null)]).toEqual(['error', 'error']);
    });

    it('opens neither WebSockets nor event streams', async () => {
      expect(await openSocket()).toBe('error');
      expect(await openStream()).toBe('error');
    });
  });

  /** The posts that the test of another origin must not create. */
  const count = async () => (await system.stack.sql('content', `SELECT 1 FROM posts WHERE title = 'Foreign'`)).length;

  /** Resolves with whether an element with this attribute `crossorigin` loads the video. */
  const embed = (crossOrigin: string | null) =>
    page.evaluate<string>(`new Promise((resolve) => {
      const video = document.createElement('video');
      video.crossOrigin = ${JSON.stringify(crossOrigin)};
      video.onloadedmetadata = () => resolve('loaded');
      video.onerror = () => resolve('error');
      video.src = ${JSON.stringify(media)};
    })`);

  /** Resolves with the type of the first message, or `error`. */
  const openSocket = () =>
    page.evaluate(
      (url) =>
        new Promise<string>((resolve) => {
          const socket = new WebSocket(url, 'graphql-transport-ws');
          socket.onopen = () => {
            socket.send('{"type":"connection_init"}');
          };
          socket.onmessage = ({ data }) => {
            resolve((JSON.parse(String(data)) as { type: string }).type);
            socket.close();
          };
          socket.onerror = () => {
            resolve('error');
          };
        }),
      `${gateway.url.replace('http', 'ws')}/graphql`,
    );

  /** Resolves with the data of the first event, or `error`. */
  const openStream = () =>
    page.evaluate(
      (url) =>
        new Promise<unknown>((resolve) => {
          const source = new EventSource(url, { withCredentials: true });
          source.addEventListener('next', (event) => {
            resolve(JSON.parse(String((event as MessageEvent).data)));
            source.close();
          });
          source.onerror = () => {
            resolve('error');
            source.close();
          };
        }),
      `${gateway.url}/graphql?query={__typename}`,
    );
});

describe('every response', () => {
  const paths = () => [
    `${bridge.url}/v1/products`,
    `${bridge.url}/v1/orders`,
    `${bridge.url}/v1/nothing`,
    `${bridge.url}/docs`,
    `${bridge.url}/oauth/device`,
    `${bridge.url}/oauth/token`,
    `${bridge.url}/.well-known/openid-configuration`,
    `${gateway.url}/graphql?query={__typename}`,
    `${gateway.url}/graphql?query={`,
    `${gateway.url}/nothing`,
  ];

  it('varies by origin, and allows a listed one alone: never a wildcard, never twice', async () => {
    for (const url of paths()) {
      for (const [origin, allowed] of [
        [undefined, null],
        [foreign.origin, null],
        ['null', null],
        [listed.origin, listed.origin],
      ] as const) {
        const { headers } = await fetch(url, { headers: origin === undefined ? {} : { origin } });
        expect([url, origin, headers.get('access-control-allow-origin')]).toEqual([url, origin, allowed]);
        expect([url, headers.get('vary')?.toLowerCase().split(/, */)]).toEqual([url, expect.arrayContaining(['origin'])]);
        expect(headers.get('access-control-allow-credentials')).toBe(allowed === null ? null : 'true');
      }
    }
  });
});
