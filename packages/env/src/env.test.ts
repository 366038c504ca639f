import { describe, expect, it } from '@jest/globals';
import { SettingsError, SettingsFaults, describeSetting, findFault, readFamily, readSettings, readTls, setting } from './env.ts';

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

describe('setting.url', () => {
  it('reads a Unix domain socket by its absolute path only', () => {
    const url = setting.url('http:', 'unix:');
    expect(url.parse('unix:///run/a.sock')).toBe('unix:///run/a.sock');
    for (const wrong of ['unix://run/a.sock', 'unix:/run/a.sock', 'unix:run', 'UNIX://run'])
      expect(findFault(url, wrong)).toBe('must be a URL that starts with http:// or unix:///');
    expect(findFault(setting.url('http:'), 'unix:///run/a.sock')).toBe('must be a URL that starts with http://');
  });
});

describe('setting.list', () => {
  const list = setting.list((item) => item !== 'bad', 'has a bad item');

  it('reads strings that are separated by commas or white space', () => {
    expect(list.parse(' a, b\tc,')).toEqual(['a', 'b', 'c']);
    expect(findFault(list, 'a,bad')).toBe('has a bad item');
    expect(
      findFault(
        setting.list(
          (item) => item.length > 1,
          (item) => `has \`${item}\``,
        ),
        'aa,b,c',
      ),
    ).toBe('has `b`');
  });
});

describe('setting.integers', () => {
  it('reads integers in their range', () => {
    expect(setting.integers(400, 599).parse(' 502, 503\t504,')).toEqual([502, 503, 504]);
    expect(setting.integers(400, 599).parse(' , ')).toEqual([]);
  });

  it.each(['399', '503,600', '-503', '503.5', '5e2', '0x1f7', 'all', '9'.repeat(400)])('refuses %s', (text) => {
    expect(findFault(setting.integers(400, 599), text)).toBe('must be integers from 400 to 599');
  });
});

describe('describeSetting', () => {
  it.each([
    ['an integer', setting.integer(1, 10).default(3), { form: { kind: 'integer', minimum: 1, maximum: 10 }, defaultValue: 3 }],
    ['a port', setting.port().optional(), { form: { kind: 'integer', minimum: 0, maximum: 65_535 }, defaultValue: undefined }],
    ['integers', setting.integers(1, 9).default([]), { form: { kind: 'integers', minimum: 1, maximum: 9 }, defaultValue: [] }],
    ['a switch', setting.onOff().default(true), { form: { kind: 'boolean' }, defaultValue: true }],
    ['a choice', setting.choice('a', 'b').optional(), { form: { kind: 'choice', values: ['a', 'b'] }, defaultValue: undefined }],
    ['a URL', setting.url('http:'), { form: { kind: 'url', protocols: ['http:'] }, defaultValue: undefined }],
    ['a parsed file', setting.parsedFile(String).optional(), { form: { kind: 'path' }, defaultValue: undefined }],
    ['a list', setting.list().default(['a']), { form: { kind: 'list' }, defaultValue: ['a'] }],
  ])('returns the form and the default of %s', (_, reader, description) => {
    expect(describeSetting(reader)).toEqual(description);
  });
});

describe('SettingsFaults', () => {
  it('throws one error with the faults of all readers', () => {
    const faults = new SettingsFaults();
    faults.add('a: is wrong');
    expect(faults.attempt(() => 1)).toBe(1);
    expect(faults.attempt(() => readSettings({ B: setting.integer(1, 2) }, {}))).toBeUndefined();
    faults.attempt(() => readTls({ TLS_CERT_FILE: 'x' }));
    expect(() => {
      faults.report();
    }).toThrow('Invalid settings:\n  a: is wrong\n  B: is required\n  TLS_KEY_FILE: is required when TLS_CERT_FILE is set');
  });

  it('throws nothing without faults, and any other error at once', () => {
    const faults = new SettingsFaults();
    expect(() => {
      faults.attempt(() => {
        throw new RangeError('other');
      });
    }).toThrow('other');
    faults.report();
  });
});
