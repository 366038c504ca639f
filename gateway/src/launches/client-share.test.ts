import { describe, expect, it } from '@jest/globals';
import type { Caller } from '@trestle/identity';
import { type SharedRequest, createClientShare } from './client-share.ts';

const launch = 'a'.repeat(64);
const request = ({ userId, ...rest }: Partial<SharedRequest> & { userId?: string }): SharedRequest => ({
  ...{ caller: userId === undefined ? null : ({ userId } as Caller), client: '203.0.113.9', identity: [], requestId: 'r' },
  ...rest,
});
const CLIENTS = 10_000;
const countIn = (isIn: (request: SharedRequest) => boolean, toRequest: (i: number) => SharedRequest) =>
  Array.from({ length: CLIENTS }, (_, i) => isIn(toRequest(i))).filter(Boolean).length;

describe('createClientShare', () => {
  it.each([1, 10, 50, 99])('has %i % of clients in the share', (percent) => {
    const isIn = createClientShare({ launch, percent, header: 'x-client' });
    const kinds = [
      (i: number) => request({ userId: `user_${String(i)}` }),
      (i: number) => request({ client: `10.0.${String(i >> 8)}.${String(i & 255)}` }),
      (i: number) => request({ identity: ['x-client', String(i)] }),
    ];
    for (const kind of kinds) expect(Math.abs(countIn(isIn, kind) / CLIENTS - percent / 100)).toBeLessThan(0.015);
  });

  it('decides the same for a client whatever else its requests have, and for its account at any address', () => {
    const isIn = createClientShare({ launch, percent: 50, header: 'x-client' });
    for (let i = 0; i < 100; i++) {
      const userId = `user_${String(i)}`;
      expect(isIn(request({ userId, client: '198.51.100.1', requestId: 'q' }))).toBe(isIn(request({ userId })));
      const identity = ['authorization', 'Bearer x', 'x-client', userId];
      expect(isIn(request({ identity, userId: 'other' }))).toBe(isIn(request({ identity: identity.slice(2) })));
    }
  });

  it('has other clients in the share of another launch', () => {
    const [one, two] = [launch, 'b'.repeat(64)].map((id) => createClientShare({ launch: id, percent: 50, header: undefined }));
    const inBoth = countIn(
      (each) => one?.(each) === true && two?.(each) === true,
      (i) => request({ userId: String(i) }),
    );
    expect(Math.abs(inBoth / CLIENTS - 0.25)).toBeLessThan(0.02);
  });
});
