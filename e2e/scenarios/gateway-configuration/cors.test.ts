/** CORS_CREDENTIALS and CORS_MAX_AGE_SECONDS, as a browser sees them. */
import { expect, it } from '@jest/globals';
import { startFederation } from '../../stack/federation/federation.ts';

const PAGE = 'https://app.example.com';
const SOURCES = { names: { sdl: 'type Query { name: String }', resolvers: { Query: { name: () => 'a' } } } };

it.each([
  { env: {}, credentials: 'true', maxAge: '7200' },
  { env: { CORS_CREDENTIALS: 'off', CORS_MAX_AGE_SECONDS: '0' }, credentials: null, maxAge: '0' },
])('answers pages of listed origins by the settings: %j', async ({ env, credentials, maxAge }) => {
  const federation = await startFederation(SOURCES, { env: { CORS_ORIGINS: PAGE, ...env } });
  const preflight = await fetch(federation.url, {
    method: 'OPTIONS',
    headers: { origin: PAGE, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
  });
  const response = await fetch(federation.url, {
    method: 'POST',
    headers: { origin: PAGE, 'content-type': 'application/json' },
    body: '{"query":"{ name }"}',
  });
  expect([preflight.status, preflight.headers.get('access-control-max-age')]).toEqual([204, maxAge]);
  for (const { headers } of [preflight, response])
    expect([headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')]).toEqual([PAGE, credentials]);
  expect(await response.json()).toEqual({ data: { name: 'a' } });
  await federation.stop();
});
