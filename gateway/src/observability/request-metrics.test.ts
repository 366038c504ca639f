import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Engine } from '../engines/engine.ts';
import { createGatewayMetrics } from './request-metrics.ts';

// contract §1: /metrics is for operators; clients choose the names of operations, never its size.
it('keeps /metrics small, however long and however many the names of operations are', async () => {
  const registry = new Registry();
  const metrics = createGatewayMetrics(registry, {} as Engine);
  for (let i = 0; i < 500; i++) {
    metrics.begin();
    metrics.end({ status: 200, seconds: 0.01, operation: `Op${String(i)}${'x'.repeat(i % 2 === 0 ? 900_000 : 90)}` });
  }
  const text = await registry.metrics();
  expect(Buffer.byteLength(text)).toBeLessThan(512 * 1024);
  expect(text).toMatch(/operation="other"/);
});
