import { describe, expect, it } from '@jest/globals';
import { parseWebhookChange } from './rules.ts';

const RULE = { allowsPrivate: false, findFault: () => undefined };
const WEBHOOK = { url: 'https://example.com/hooks' };
const change = (input: Parameters<typeof parseWebhookChange>[0]) => parseWebhookChange(input, RULE, WEBHOOK);

describe('parseWebhookChange', () => {
  it('forgets the failures of a webhook that is given another address, which has not failed yet', () => {
    expect(change({ url: 'https://example.com/other' })).toEqual({ url: 'https://example.com/other', failingSince: null });
  });

  it('keeps the failures of a webhook whose address is sent unchanged, however it is written', () => {
    expect(change({ url: 'HTTPS://EXAMPLE.com:443/hooks', name: 'Same' })).toEqual({ ...WEBHOOK, name: 'Same' });
  });

  it('forgets the failures of a webhook that is enabled', () => {
    expect(change({ isEnabled: true })).toEqual({ isEnabled: true, disabledReason: null, failingSince: null });
  });
});
