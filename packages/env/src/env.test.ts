import { expect, it } from '@jest/globals';
import { SettingsError, readFamily, readSettings, setting } from './env.ts';

const shape = {
  PORT: setting.port().default(4000),
  SIZE: setting.integer(1, 10),
  DATABASE_URL: setting.url('postgres:'),
  DEMO: setting.onOff().default(true),
  LEVEL: setting.choice('info', 'warn').default('info'),
};

it('gives typed values and defaults, and takes an empty value for none', () => {
  expect(readSettings(shape, { SIZE: '3', DATABASE_URL: 'postgres://h/d', DEMO: 'off', PORT: '' })).toEqual({
    PORT: 4000,
    SIZE: 3,
    DATABASE_URL: 'postgres://h/d',
    DEMO: false,
    LEVEL: 'info',
  });
});

it('names every bad setting at once, and shows no value', () => {
  const read = () => readSettings(shape, { PORT: '99999', DATABASE_URL: 'mysql://user:secret@host', DEMO: 'yes', LEVEL: 'loud' });
  expect(read).toThrow(SettingsError);
  expect(read).toThrow(
    /PORT: must be at most 65535[\s\S]*SIZE: is required[\s\S]*DATABASE_URL: must be a URL[\s\S]*DEMO: must be on or off[\s\S]*LEVEL: must be one of info, warn/,
  );
  expect(read).not.toThrow(/secret/);
});

it('reads a family of settings by its prefix', () => {
  expect([...readFamily('SUBGRAPH_URL_', { SUBGRAPH_URL_USERS: 'http://u', SUBGRAPH_URL_X: '', OTHER: '1' })]).toEqual([
    ['users', 'http://u'],
  ]);
});
