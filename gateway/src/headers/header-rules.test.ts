import { describe, expect, it } from '@jest/globals';
import {
  type HeaderRule,
  type HeaderRules,
  NO_HEADER_RULES,
  compileRequestRules,
  compileResponseRules,
  createMatcher,
  findPropagated,
} from './header-rules.ts';

const rules = (all: HeaderRule[], orders: HeaderRule[] = []): HeaderRules => ({
  request: { all, bySubgraph: new Map([['orders', orders]]) },
  response: { all, bySubgraph: new Map([['orders', orders]]) },
});
const propagate = (name: string, as = name, fallback?: string): HeaderRule => ({ kind: 'propagate', name, as, fallback });
const SENT = ['content-type', 'application/json', 'x-request-id', 'r', 'x-tenant', 'acme', 'x-kept', 'k'];

describe('compileRequestRules', () => {
  const apply = (given: HeaderRules, subgraph: string) => compileRequestRules(given, subgraph, ['x-kept'])?.(SENT, SENT).slice(4);

  it('returns undefined without rules, so that fetches cost nothing', () => {
    expect(compileRequestRules(NO_HEADER_RULES, 'Orders', [])).toBeUndefined();
  });

  it('sends a header that a rule passes on to that subgraph only', () => {
    const given = rules([], [propagate('x-tenant')]);
    expect(apply(given, 'Orders')).toEqual(['x-kept', 'k', 'x-tenant', 'acme']);
    expect(apply(given, 'Users')).toEqual(['x-kept', 'k']);
    expect(findPropagated(given)).toEqual(['x-tenant']);
  });

  it('renames, and uses the default when the client sent none', () => {
    expect(apply(rules([propagate('x-tenant', 'tenant'), propagate('x-none', 'none', 'd')]), 'Users')).toEqual([
      ...['x-kept', 'k', 'tenant', 'acme', 'none', 'd'],
    ]);
    expect(apply(rules([propagate('x-none')]), 'Users')).not.toContain('x-none');
  });

  it('inserts and removes in order, rules for all subgraphs first', () => {
    const given = rules(
      [
        { kind: 'insert', name: 'x-kept', value: 'new' },
        { kind: 'insert', name: 'x-a', value: '1' },
      ],
      [{ kind: 'remove', name: 'x-a' }],
    );
    expect(apply(given, 'Users')).toEqual(['x-tenant', 'acme', 'x-kept', 'new', 'x-a', '1']);
    expect(apply(given, 'Orders')).toEqual(['x-tenant', 'acme', 'x-kept', 'new']);
  });

  const claim = (fallback?: string): HeaderRule => ({ kind: 'claim', name: 'x-kept', claim: 'sub', fallback });
  const withToken = (claims: object) => [
    ...SENT,
    ...['authorization', `Bearer e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`],
  ];
  const sendClaim = (fields: string[], fallback?: string) => {
    const sent = compileRequestRules(rules([claim(fallback)]), 'Orders', [])?.(fields, fields) ?? [];
    return sent.flatMap((name, i) => (name === 'x-kept' ? [sent[i + 1]] : []));
  };

  it('inserts a claim of the token in place of what the client has sent', () => {
    expect(sendClaim(withToken({ sub: 'usr_1' }))).toEqual(['usr_1']);
  });

  it('reads the token and the headers of the client, also those that an earlier rule has removed or replaced', () => {
    const given = rules([
      { kind: 'remove', name: 'authorization' },
      claim(),
      { kind: 'insert', name: 'x-tenant', value: 'fixed' },
      propagate('x-tenant', 'x-sent-tenant'),
    ]);
    expect(
      compileRequestRules(given, 'Orders', ['x-tenant', 'x-kept'])?.(withToken({ sub: 'usr_1' }), withToken({ sub: 'usr_1' })).slice(4),
    ).toEqual([...['x-kept', 'usr_1', 'x-tenant', 'fixed', 'x-sent-tenant', 'acme']]);
  });

  it('sends the default, or no header, without a token and for a claim that no header may have', () => {
    for (const fields of [SENT, withToken({}), withToken({ sub: 'a\r\nx-admin: 1' }), withToken({ sub: 'Zoë' })]) {
      expect(sendClaim(fields)).toEqual([]);
      expect(sendClaim(fields, 'nobody')).toEqual(['nobody']);
    }
  });
});

describe('rules with patterns', () => {
  const [ofTenant, anyHeader] = [
    { prefix: 'x-tenant-', suffix: '' },
    { prefix: '', suffix: '' },
  ];
  const fields = [...['accept', 'application/json', 'cookie', 'a=1', 'x-tenant-id', 'acme'], ...['x-tenant-secret', 's', 'x-kept', 'k']];
  const apply = (given: HeaderRules, subgraph: string) => compileRequestRules(given, subgraph, ['x-kept'])?.(fields, fields).slice(4);

  it('pass on what the pattern stands for, to the subgraphs that have the rule', () => {
    const given = rules([], [{ kind: 'propagate like', pattern: ofTenant }]);
    expect(apply(given, 'Orders')).toEqual(['x-kept', 'k', 'x-tenant-id', 'acme', 'x-tenant-secret', 's']);
    expect(apply(given, 'Users')).toEqual(['x-kept', 'k']);
  });

  it('remove what the pattern stands for, but no header that belongs to the message', () => {
    const given = rules(
      [{ kind: 'propagate like', pattern: ofTenant }],
      [{ kind: 'remove like', pattern: { prefix: '', suffix: '-secret' } }],
    );
    expect(apply(given, 'Orders')).toEqual(['x-kept', 'k', 'x-tenant-id', 'acme']);
    expect(compileRequestRules(rules([{ kind: 'remove like', pattern: anyHeader }]), 'Users', [])?.(fields, fields)).toEqual([
      ...['accept', 'application/json'],
    ]);
  });

  it('yield to a later rule that names the header', () => {
    const given = rules([{ kind: 'propagate like', pattern: ofTenant }], [{ kind: 'insert', name: 'x-tenant-id', value: 'fixed' }]);
    expect(apply(given, 'Orders')).toEqual(['x-kept', 'k', 'x-tenant-secret', 's', 'x-tenant-id', 'fixed']);
  });

  it('never stand for credentials, cookies, and headers of the message or of a hop', () => {
    const matches = createMatcher(rules([{ kind: 'propagate like', pattern: anyHeader }]));
    for (const name of [
      ...[
        'authorization',
        'x-api-key',
        'proxy-authorization',
        'x-graphql-event-stream-token',
        'cookie',
        'origin',
        'host',
        'content-length',
      ],
      ...[
        'accept',
        'traceparent',
        'trestle-client',
        'trestle-cache',
        'sec-websocket-key',
        'x-forwarded-for',
        'x-real-ip',
        'idempotency-scope',
      ],
    ])
      expect([name, matches?.(name)]).toEqual([name, false]);
    expect(['x-any', 'user-agent'].map((name) => matches?.(name))).toEqual([true, true]);
    const withSecret = createMatcher(rules([{ kind: 'propagate like', pattern: anyHeader }]), ['x-token']);
    expect(['x-any', 'x-token'].map((name) => withSecret?.(name))).toEqual([true, false]);
  });

  it('have no part of a name twice', () => {
    const matches = createMatcher(rules([{ kind: 'propagate like', pattern: { prefix: 'x-a', suffix: 'a-b' } }]));
    expect(['x-a-b', 'x-aa-b', 'x-a-a-b'].map((name) => matches?.(name))).toEqual([false, true, true]);
  });
});

describe('compileResponseRules', () => {
  it('returns what goes to the client; a later rule of the subgraph replaces one for all', () => {
    const given = rules(
      [propagate('x-cache'), { kind: 'insert', name: 'x-by', value: 'us' }],
      [{ kind: 'remove', name: 'x-cache' }, propagate('x-node', 'x-by', 'none')],
    );
    expect(compileResponseRules(given, 'Users')).toEqual([
      { as: 'x-cache', from: 'x-cache', fallback: undefined },
      { as: 'x-by', from: undefined, fallback: 'us' },
    ]);
    expect(compileResponseRules(given, 'Orders')).toEqual([{ as: 'x-by', from: 'x-node', fallback: 'none' }]);
  });
});
