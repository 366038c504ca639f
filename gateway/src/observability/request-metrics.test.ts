import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createRequestMetrics } from './request-metrics.ts';

describe('createRequestMetrics', () => {
  // contract §1: /metrics is for operators; clients choose operation names and must not choose its size.
  it('bounds the size of /metrics, whatever the number and the length of operation names', async () => {
    const registry = new Registry();
    const metrics = createRequestMetrics(registry);
    for (let i = 0; i < 500; i++) {
      metrics.begin();
      metrics.end({ status: 200, seconds: 0.01, operation: `Op${String(i)}${'x'.repeat(i % 2 === 0 ? 900_000 : 90)}` });
    }
    const text = await registry.metrics();
    expect(Buffer.byteLength(text)).toBeLessThan(512 * 1024);
    expect(text).toMatch(/operation="other"/);
  });
});
