/** The settings that every subgraph has, to be spread into its own config.ts. */
import { readFileSync } from 'node:fs';
import { setting } from '@trestle/env';
import { LOG_LEVELS } from '@trestle/log';

/** A setting that names a file and gives the file's text. */
export const fileSetting = () =>
  setting.text().transform((path, context) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      context.addIssue({ code: 'custom', message: 'names a file that can not be read' });
      return '';
    }
  });

export const chassisSettings = {
  HOST: setting.text().default('127.0.0.1'),
  LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
  TOKEN_PUBLIC_KEY_FILE: fileSetting(),
};

export const databaseSetting = () => setting.url('postgres:', 'postgresql:');
