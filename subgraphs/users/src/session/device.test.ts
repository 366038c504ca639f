import { describe, expect, it } from '@jest/globals';
import { toDevice } from './device.ts';

describe('toDevice', () => {
  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36 Edg/142.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
      'Safari on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile Safari/604.1',
      'Chrome on iPhone',
    ],
    ['curl/8.14.1', 'curl'],
    ['node', 'node'],
    ['', 'Unknown device'],
    [undefined, 'Unknown device'],
    ['<script>alert(1)</script>', 'Unknown device'],
    ['\u0000Windows', 'Windows'],
  ])('names %j %s', (userAgent, device) => {
    expect(toDevice(userAgent)).toBe(device);
  });

  it('returns at most 100 characters for the longest header', () => {
    expect(toDevice('x'.repeat(16_000)).length).toBeLessThanOrEqual(100);
    expect(toDevice(`${'x'.repeat(400)} Windows`).length).toBeLessThanOrEqual(100);
  });
});
