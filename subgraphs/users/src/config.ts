/** The settings of the users process. */
import type { SubgraphSettings } from '@trestle/chassis/server/run-subgraph';
import { chassisSettings, databaseSetting } from '@trestle/chassis/settings';
import { SettingsError, readSettings, setting } from '@trestle/env';
import { fileSettings } from '@trestle/files/settings';
import { parseApiKeySecret } from '@trestle/identity/credentials/api-keys';
import { toRevocationSeconds } from '@trestle/identity/verification/trusted-issuers';
import { RETRY_SECONDS, parseRetrySeconds } from './delivery/rules.ts';
import { parseWebhookKeys } from './webhook/secrets.ts';

/** The database refuses to delete younger events, whatever the setting (see the migration). */
const MIN_RETENTION_DAYS = 30;
const MAX_RETENTION_DAYS = 36_500;
const MAX_FAILING_HOURS = 720;

/** Returns the settings of the process. Throws a SettingsError that names every invalid setting. */
export function readConfig() {
  const settings = readSettings(
    {
      ...chassisSettings,
      ...fileSettings,
      USERS_PORT: setting.port().default(4001),
      USERS_DATABASE_URL: databaseSetting(),
      SECURE_COOKIES: setting.onOff().default(true),
      REQUIRE_ADMIN_SECOND_FACTOR: setting.onOff().default(false),
      TOKEN_PRIVATE_KEY_FILE: setting.readablePath(),
      API_KEY_SECRET_FILE: setting.parsedFile(parseApiKeySecret),
      SECURITY_EVENTS_RETENTION_DAYS: setting.integer(MIN_RETENTION_DAYS, MAX_RETENTION_DAYS).default(365),
      CONTENT_URL: setting.url('http:', 'https:').optional(),
      SMTP_URL: setting.url('smtp:', 'smtps:').optional(),
      MAIL_FROM: setting.string().optional(),
      WEBHOOK_KEY_FILE: setting.parsedFile(parseWebhookKeys),
      WEBHOOK_ALLOW_PRIVATE: setting.onOff().default(false),
      WEBHOOK_RETRY_SECONDS: setting.parsed(parseRetrySeconds).default([...RETRY_SECONDS]),
      WEBHOOK_DISABLE_AFTER_HOURS: setting.integer(1, MAX_FAILING_HOURS).default(120),
      OAUTH_ISSUER: setting.url('http:', 'https:').optional(),
      OAUTH_KEY_FILE: setting.parsedFile(readOAuthKey).optional(),
    },
    process.env,
  );
  requireKeptRevocations(settings);
  const { OAUTH_ISSUER: issuer, OAUTH_KEY_FILE: key } = settings;
  return { ...settings, oauth: readOAuth(issuer, key) };
}

/** Revocations are events: a process that starts reads those of every token that may still be valid. */
function requireKeptRevocations({
  EVENTS_RETENTION_HOURS: hours,
  TRUSTED_ISSUERS_FILE: issuers,
}: Pick<SubgraphSettings, 'EVENTS_RETENTION_HOURS' | 'TRUSTED_ISSUERS_FILE'>): void {
  const needed = Math.ceil(toRevocationSeconds(issuers) / 3600);
  if (hours < needed)
    throw new SettingsError(
      `Invalid settings:\n  EVENTS_RETENTION_HOURS: must be at least ${String(needed)}, because TRUSTED_ISSUERS_FILE accepts tokens that live so long`,
    );
}

/** Returns what the authorization server needs; undefined without OAUTH_ISSUER. Throws a SettingsError. */
function readOAuth(issuer: string | undefined, key: string | undefined) {
  if (issuer === undefined) return undefined;
  const { origin, protocol, hostname } = new URL(issuer);
  const faults = [
    ...(key === undefined ? ['OAUTH_KEY_FILE: is required when OAUTH_ISSUER is set'] : []),
    ...(issuer === origin || issuer === `${origin}/` ? [] : ['OAUTH_ISSUER: must be an origin, without a path']),
    ...(protocol === 'https:' || LOOPBACK.test(hostname) ? [] : ['OAUTH_ISSUER: must start with https:// unless it is this machine']),
  ];
  if (key === undefined || faults.length > 0) throw new SettingsError(`Invalid settings:\n  ${faults.join('\n  ')}`);
  return { issuer: origin, key };
}

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
const MIN_KEY_CHARACTERS = 32;

function readOAuthKey(text: string): string {
  const key = text.trim();
  if (key.length < MIN_KEY_CHARACTERS) throw new Error(`must name a file with at least ${String(MIN_KEY_CHARACTERS)} characters`);
  return key;
}

/** The settings of the commands of operators. */
export function readAdminConfig() {
  return readSettings({ USERS_DATABASE_URL: databaseSetting() }, process.env);
}
