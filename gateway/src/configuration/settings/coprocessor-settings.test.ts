import { describe, expect, it } from '@jest/globals';
import { readStages, toCoprocessor } from './coprocessor-settings.ts';

const VALUES = {
  COPROCESSOR_URL: 'http://127.0.0.1:1/all',
  COPROCESSOR_STAGES: ['onResponse', 'onPlan'],
  COPROCESSOR_HEADERS: ['X-Tenant'],
  EXTENSION_TIMEOUT_MS: 700,
};

describe('readStages', () => {
  it('returns what is set for each stage, whatever the case of its name', () => {
    const env = {
      COPROCESSOR_URL_ONPLAN: 'http://127.0.0.1:2/',
      COPROCESSOR_TIMEOUT_MS_ONPLAN: '50',
      COPROCESSOR_ON_FAILURE_OnResponse: 'pass',
    };
    expect([...readStages(env)]).toEqual([
      ['onPlan', { url: 'http://127.0.0.1:2/', timeoutMs: 50 }],
      ['onResponse', { onFailure: 'pass' }],
    ]);
  });

  it.each([
    ['COPROCESSOR_URL_ONPLAN', 'file:///etc/passwd', 'must'],
    ['COPROCESSOR_TIMEOUT_MS_ONPLAN', '0', 'must be at least 1'],
    ['COPROCESSOR_TIMEOUT_MS_ONPLAN', '60001', 'must be at most 60000'],
    ['COPROCESSOR_ON_FAILURE_ONPLAN', 'ignore', 'must be one of refuse, pass'],
    ['COPROCESSOR_TIMEOUT_MS_ONEVENT', '5', 'the name of the stage must be one of onRequest'],
    ['COPROCESSOR_TIMEOUT_MS___PROTO__', '5', 'the name of the stage must be one of onRequest'],
  ])('throws for %s=%s', (name, value, message) => {
    expect(() => readStages({ [name]: value })).toThrow(`${name}: ${message}`);
  });
});

describe('toCoprocessor', () => {
  it('returns the settings of each stage: its own, else those for all', () => {
    const choices = readStages({ COPROCESSOR_URL_ONPLAN: 'http://127.0.0.1:2/', COPROCESSOR_ON_FAILURE_ONPLAN: 'pass' });
    expect(toCoprocessor(VALUES, choices)).toEqual({
      stages: [
        { stage: 'onPlan', url: 'http://127.0.0.1:2/', timeoutMs: 700, onFailure: 'pass' },
        { stage: 'onResponse', url: 'http://127.0.0.1:1/all', timeoutMs: 700, onFailure: 'refuse' },
      ],
      headers: ['x-tenant'],
    });
  });

  it('returns nothing without a stage', () => {
    expect(toCoprocessor({ ...VALUES, COPROCESSOR_STAGES: [] }, new Map())).toBeUndefined();
  });
});
