import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { createWebhookSecrets, parseWebhookKeys, sign } from './secrets.ts';

const line = () => randomBytes(32).toString('hex');

describe('the secret of a webhook', () => {
  it('is encrypted anew each time, and decrypted for its own webhook only', () => {
    const secrets = createWebhookSecrets([line()]);
    const { secret, encrypted } = secrets.create('whk_a');
    expect(secret).toBe(`whsec_${secrets.decrypt(encrypted, 'whk_a').toString('base64')}`);
    expect(() => secrets.decrypt(encrypted, 'whk_b')).toThrow('No key');
    expect(encrypted.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
  });

  it('is still decrypted after its key has moved behind a new one, and no longer after it was removed', () => {
    const [old, next] = [line(), line()];
    const { encrypted } = createWebhookSecrets([old]).create('whk_a');
    expect(createWebhookSecrets([next, old]).decrypt(encrypted, 'whk_a')).toHaveLength(32);
    expect(() => createWebhookSecrets([next]).decrypt(encrypted, 'whk_a')).toThrow('No key');
  });

  it('signs any body so that the official library verifies it, with either secret of two', () => {
    const secrets = createWebhookSecrets([line()]);
    const two = [secrets.create('whk_a'), secrets.create('whk_a')];
    const bytes = two.map(({ encrypted }) => secrets.decrypt(encrypted, 'whk_a'));
    fc.assert(
      fc.property(fc.json(), (body) => {
        const timestamp = Math.floor(Date.now() / 1000);
        const headers = {
          'webhook-id': 'evt_1',
          'webhook-timestamp': String(timestamp),
          'webhook-signature': sign(bytes, { id: 'evt_1', timestamp, body }),
        };
        for (const { secret } of two) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
        expect(() => new Webhook(two[0]?.secret ?? '').verify(`${body} `, headers)).toThrow();
      }),
    );
  });
});

describe('parseWebhookKeys', () => {
  it('reads one key a line, and refuses short ones and none', () => {
    const [a, b] = [line(), line()];
    expect(parseWebhookKeys(`${a}\n\n${b}\n`)).toEqual([a, b]);
    for (const text of ['', '\n', 'short', `${a}\nshort`]) expect(() => parseWebhookKeys(text)).toThrow('at least 32');
  });
});
