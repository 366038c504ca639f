/** Reads the settings of the bridge from the environment. */
import { X509Certificate } from 'node:crypto';
import { readSettings, readTls, setting } from '@trestle/env';
import { verificationSettings } from '@trestle/identity/settings';
import { LOG_LEVELS } from '@trestle/log';
import { rateLimitSettings } from '@trestle/limits/settings';
import { edgeSettings } from '@trestle/service/edge/edge-settings';
import { serviceSettings } from '@trestle/service/settings';
import { telemetrySettings } from '@trestle/telemetry/settings';
import { type Lifecycle, parseLifecycles } from './versions/versions.ts';

/** Returns the settings. Throws an Error that names every invalid variable. */
export function readConfig() {
  const settings = readSettings(
    {
      ...serviceSettings,
      ...edgeSettings,
      ...rateLimitSettings,
      REST_PORT: setting.port().default(3000),
      HOST: setting.string().default('127.0.0.1'),
      LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
      GATEWAY_URL: setting.url('http:', 'https:').default('http://127.0.0.1:4000/graphql'),
      PUBLIC_GATEWAY_URL: setting.url('http:', 'https:').optional(),
      PUBLIC_REGISTRY_URL: setting.url('http:', 'https:').optional(),
      GATEWAY_CERT_FILE: setting.parsedFile(parseCertificate).optional(),
      MAX_UPLOAD_BYTES: setting.integer(1024, 2_147_483_647).default(104_857_600),
      GATEWAY_TIMEOUT_MS: setting.integer(100, 300_000).default(15_000),
      USERS_URL: setting.url('http:').optional(),
      CONTENT_URL: setting.url('http:').optional(),
      ...verificationSettings,
      REVOCATIONS_URL: setting.url('http:', 'https:').optional(),
      API_KEY_EXCHANGE_URL: setting.url('http:', 'https:').optional(),
      API_VERSIONS_FILE: setting.parsedFile(parseLifecycles).default(new Map<number, Lifecycle>()),
      MAINTENANCE_FILE: setting.string().optional(),
      REQUEST_READER: setting.choice('lean', 'node').default('lean'),
      MAX_IN_FLIGHT: setting.integer(1, 100_000).default(1000),
      MAX_EVENT_LOOP_DELAY_MS: setting.integer(10, 60_000).default(500),
      ...telemetrySettings,
      TLS_CERT_FILE: setting.file().optional(),
      TLS_KEY_FILE: setting.file().optional(),
    },
    process.env,
  );
  return { ...settings, tls: readTls(settings) };
}

/** Returns the certificate. Throws an Error when the text is not a certificate in PEM. */
function parseCertificate(pem: string): string {
  try {
    new X509Certificate(pem);
  } catch {
    throw new Error('must name a file with a certificate in PEM');
  }
  return pem;
}
