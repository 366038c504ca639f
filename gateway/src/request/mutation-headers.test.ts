import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { createAllowedOrigin } from '@trestle/service/edge/allowed-origin';
import { createClientIds, toClientHeaders } from '@trestle/service/clients/client-id';
import { readMutationHeaders } from './mutation-headers.ts';

const options = {
  forwardMutationHeaders: ['cookie', 'origin', 'user-agent'],
  isAllowedOrigin: createAllowedOrigin({ publicUrls: [], origins: ['https://app.example.com'] }),
};
const requestOf = (headers: Record<string, string>) =>
  ({ headers: { host: 'localhost:4000', ...headers }, socket: { remoteAddress: '127.0.0.1' } }) as unknown as IncomingMessage;
const read = (headers: Record<string, string>) => readMutationHeaders(requestOf(headers), options);
const sent = { cookie: 'a=b', 'user-agent': 'agent' };

describe('readMutationHeaders', () => {
  it('returns the idempotency key alone when nothing is configured', () => {
    const nothing = { ...options, forwardMutationHeaders: [] };
    expect(readMutationHeaders(requestOf({ ...sent, 'idempotency-key': 'key-1234567890ab' }), nothing)).toEqual([
      'idempotency-key',
      'key-1234567890ab',
    ]);
  });

  it.each(['https://app.example.com', 'http://localhost:4000'])('returns the configured headers from the allowed origin %s', (origin) => {
    expect(read({ ...sent, origin, 'x-other': 'o' })).toEqual(['cookie', 'a=b', 'origin', origin, 'user-agent', 'agent']);
  });

  it.each([undefined, 'https://evil.example', 'null'])('leaves out the cookie and the origin when the origin is %s', (origin) => {
    expect(read({ ...sent, ...(origin !== undefined && { origin }) })).toEqual(['user-agent', 'agent']);
  });

  it('relies on the origin check of another process of this system, which signs its requests', () => {
    const key = 'k'.repeat(32);
    const atBridge = requestOf({});
    createClientIds(key).identify(atBridge);
    const [name = '', value = ''] = toClientHeaders(atBridge);
    const origin = 'https://api.example.com';
    const passed = requestOf({ ...sent, origin, [name]: value });
    createClientIds(key).identify(passed);
    expect(readMutationHeaders(passed, options)).toContain('a=b');
    const forged = requestOf({ ...sent, origin, [name]: `${value}A` });
    createClientIds(key).identify(forged);
    expect(readMutationHeaders(forged, options)).not.toContain('a=b');
    const withoutOrigin = requestOf({ ...sent, [name]: value });
    createClientIds(key).identify(withoutOrigin);
    expect(readMutationHeaders(withoutOrigin, options)).not.toContain('a=b');
  });
});
