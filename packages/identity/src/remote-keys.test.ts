import { describe, expect, it } from '@jest/globals';
import { createPublicKey } from 'node:crypto';
import { createLog } from '@trestle/log';
import { type KeySet, parsePublicKeys, toKeySet } from './tokens/key-set.ts';
import { RemoteKeys } from './verification/remote-keys.ts';
import { generateTokenKeys } from './tokens/tokens.ts';

const log = createLog({ service: 'test', level: 'silent' });
const createSet = (pem: string): KeySet => toKeySet(parsePublicKeys(pem));
const ALGORITHM = 'ES256';

describe('RemoteKeys', () => {
  it('calls its listeners when a load has changed the keys, and not when it has not', async () => {
    const [first, second] = [generateTokenKeys().publicKeyPem, generateTokenKeys().publicKeyPem];
    let pem = first;
    let loads = 0;
    const load = () => Promise.resolve(createSet(pem)).finally(() => loads++);
    const keys = new RemoteKeys({ load, name: 'test', log, retryMs: 0 });
    const seen: number[] = [];
    keys.onChange(() => seen.push(loads));
    /** Loads the keys again, as a token with an unknown key id does. */
    const reload = async () => {
      expect(keys.find('unknown', ALGORITHM)).toBeUndefined();
      await keys.waitForLoad();
    };
    try {
      await keys.settled;
      await reload();
      await reload();
      expect([loads, seen]).toEqual([3, [1]]);
      pem = second;
      await reload();
      await reload();
      expect([loads, seen]).toEqual([5, [1, 4]]);
      expect(keys.find(undefined, ALGORITHM)?.equals(createPublicKey(second))).toBe(true);
    } finally {
      keys.stop();
    }
  });
});
