import { describe, expect, it } from '@jest/globals';
import { runMarkers } from './run.ts';

/** `npm run test:long` sets it. */
const IS_LONG = process.env['TEST_LENGTH'] === 'long';

describe('a gateway with many requests in flight', () => {
  it('never answers a request with the marker of another one, and returns what graphql-js returns', async () => {
    const responses = IS_LONG ? 1500 : 500;
    const report = await runMarkers({ clients: 24, responses, isOverwriting: true });
    const { leaks, differences, faultsNoticed, paths } = report;
    expect({ leaks, differences, faultsNoticed }).toEqual({ leaks: [], differences: [], faultsNoticed: [] });
    expect(report.equal).toBeGreaterThan(responses / 3);
    // The load is mixed: executions on bytes, and those that were handed over.
    expect([...paths.keys()]).toEqual(expect.arrayContaining(['bytes', 'difference', 'failure']));
    expect(paths.get('fault')).toBeUndefined();
  });
});
