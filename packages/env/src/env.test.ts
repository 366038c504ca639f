import { describe, expect, it } from '@jest/globals';
import { SettingsError, readFamily, readSettings, readTls, setting } from './env.ts';

const shape = {
  PORT: setting.port().default(4000),
  SIZE: setting.integer(1, 10),
  DATABASE_URL: setting.url('postgres:'),
  DEMO: setting.onOff().default(true),
  LEVEL: setting.choice('info', 'warn').default('info'),
};

describe('readSettings', () => {
  it('returns typed values, and the default for a setting that is missing or empty', () => {
    expect(readSettings(shape, { SIZE: '3', DATABASE_URL: 'postgres://h/d', DEMO: 'off', PORT: '' })).toEqual({
      PORT: 4000,
      SIZE: 3,
      DATABASE_URL: 'postgres://h/d',
      DEMO: false,
      LEVEL: 'info',
    });
  });

  it('throws one error that names every invalid setting and contains no value', () => {
    const read = () => readSettings(shape, { PORT: '99999', DATABASE_URL: 'mysql://user:secret@host', DEMO: 'yes', LEVEL: 'loud' });
    expect(read).toThrow(SettingsError);
    expect(read).toThrow(
      /PORT: must be at most 65535[\s\S]*SIZE: is required[\s\S]*DATABASE_URL: must be a URL[\s\S]*DEMO: must be on or off[\s\S]*LEVEL: must be one of info, warn/,
    );
    expect(read).not.toThrow(/secret/);
  });
});

describe('readTls', () => {
  it('returns undefined when neither setting is set', () => {
    expect(readTls({})).toBeUndefined();
  });

  it('throws an error that names the missing setting when only one is set', () => {
    expect(() => readTls({ TLS_CERT_FILE: 'x' })).toThrow('TLS_KEY_FILE: is required when TLS_CERT_FILE is set');
    expect(() => readTls({ TLS_KEY_FILE: 'x' })).toThrow('TLS_CERT_FILE: is required when TLS_KEY_FILE is set');
  });

  it('throws when the files are not a certificate and its private key', () => {
    expect(() => readTls({ TLS_CERT_FILE: 'x', TLS_KEY_FILE: 'y' })).toThrow('must name a certificate and its private key');
  });
});

describe('readFamily', () => {
  it('returns the settings with the prefix, keyed by the rest of the name in lower case', () => {
    expect([...readFamily('SUBGRAPH_URL_', { SUBGRAPH_URL_USERS: 'http://u', SUBGRAPH_URL_X: '', OTHER: '1' })]).toEqual([
      ['users', 'http://u'],
    ]);
  });
});
