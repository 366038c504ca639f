import { describe, expect, it } from '@jest/globals';
import { readConfig } from './config.ts';

describe('readConfig', () => {
  const forward = (names: string) => readConfig(['--auth', 'off', '--supergraph', 'supergraph.graphql'], { FORWARD_HEADERS: names });

  it('reads the names of forwarded headers, which have no case', () => {
    expect(forward('X-Tenant, x-feature').forwardHeaders).toEqual(['x-tenant', 'x-feature']);
  });

  it.each(['Host', 'Connection', 'Transfer-Encoding', 'Content-Length', 'Authorization', 'x tenant:'])(
    'refuses to forward %s (RFC 9110 §7.6.1)',
    (name) => {
      expect(() => forward(name)).toThrow('FORWARD_HEADERS: must be names of headers that may be forwarded');
    },
  );
});
