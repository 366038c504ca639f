import { describe, expect, it } from '@jest/globals';
import { warnOfEarlySweep } from './settings.ts';

describe('warnOfEarlySweep', () => {
  it.each([
    [3600, 900_000, 0],
    [3600, 3_600_000, 1],
    [3600, 7_200_000, 1],
  ])('for a sweep after %d s and uploads of at most %d ms logs %d warnings', (FILES_SWEEP_AFTER_SECONDS, UPLOAD_TIMEOUT_MS, count) => {
    const warnings: string[] = [];
    warnOfEarlySweep({ FILES_SWEEP_AFTER_SECONDS, UPLOAD_TIMEOUT_MS }, { warn: (message) => warnings.push(message) });
    expect(warnings).toHaveLength(count);
  });
});
