/** The settings that every HTTP server has. Each process adds them to those of its config.ts. */
import { readSettings, setting } from '@trestle/env';

/** The settings of `startService`, by the name of their environment variable. */
export const serviceSettings = {
  HEADERS_TIMEOUT_MS: setting.integer(100, 600_000).default(10_000),
  REQUEST_TIMEOUT_MS: setting.integer(100, 600_000).default(60_000),
  UPLOAD_TIMEOUT_MS: setting.integer(100, 86_400_000).default(900_000),
  // Longer than proxies keep their idle connections (nginx and AWS: 60 s): the side that sends requests must be the one that closes.
  KEEP_ALIVE_TIMEOUT_MS: setting.integer(100, 3_600_000).default(65_000),
  WRITE_TIMEOUT_MS: setting.integer(100, 600_000).default(10_000),
  // The value and the time of grace of Kestrel (ASP.NET Core).
  MIN_BODY_BYTES_PER_SECOND: setting.integer(0, 1_000_000_000).default(240),
  BODY_GRACE_MS: setting.integer(100, 600_000).default(5000),
  MAX_RECEIVING_BYTES: setting.integer(1_048_576, 68_719_476_736).default(67_108_864),
  MAX_SENDING_BYTES: setting.integer(1_048_576, 68_719_476_736).default(67_108_864),
  MAX_CONNECTIONS: setting.integer(1, 10_000_000).default(40_000),
  MAX_CONNECTIONS_PER_ADDRESS: setting.integer(1, 10_000_000).optional(),
  CLIENT_ID_KEY_FILE: setting.parsedFile(readClientIdKey).optional(),
  DRAIN_DELAY_MS: setting.integer(0, 600_000).default(1000),
  METRICS_PORT: setting.port().optional(),
  PUBLIC_URL: setting.url('http:', 'https:').optional(),
};

/** The values of {@link serviceSettings}. */
export type ServiceSettings = ReturnType<typeof readSettings<typeof serviceSettings>>;

/** Limits of time, rate, bytes and connections. */
export interface TrafficLimits {
  /** How long a client may take to send its headers, and its whole request, before it gets 408. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How long it may take to send a request with files. */
  readonly uploadTimeoutMs: number;
  /** How long a connection is kept open without a request. */
  readonly keepAliveTimeoutMs: number;
  /** How long a client may read nothing of a response before its connection or stream is cut. */
  readonly writeTimeoutMs: number;
  /** The lowest rate of a request body, measured over each `bodyGraceMs`; a slower one gets 408. 0: no limit. */
  readonly minBodyBytesPerSecond: number;
  readonly bodyGraceMs: number;
  /** Bytes in memory of unfinished request bodies, and of responses to be sent, of the whole process. Beyond them the slowest are cut. */
  readonly maxReceivingBytes: number;
  readonly maxSendingBytes: number;
  readonly maxConnections: number;
  /** Open connections of one IPv4 address or IPv6 /64 network. */
  readonly maxConnectionsPerAddress: number;
}

/** Returns the options of `startService` by the settings. One address, such as a reverse proxy's, may have half of all connections by default. */
export function toServiceOptions(settings: ServiceSettings) {
  const { MAX_CONNECTIONS: maxConnections, MAX_CONNECTIONS_PER_ADDRESS: perAddress = Math.ceil(maxConnections / 2) } = settings;
  const limits: TrafficLimits = {
    headersTimeoutMs: settings.HEADERS_TIMEOUT_MS,
    requestTimeoutMs: settings.REQUEST_TIMEOUT_MS,
    uploadTimeoutMs: settings.UPLOAD_TIMEOUT_MS,
    keepAliveTimeoutMs: settings.KEEP_ALIVE_TIMEOUT_MS,
    writeTimeoutMs: settings.WRITE_TIMEOUT_MS,
    minBodyBytesPerSecond: settings.MIN_BODY_BYTES_PER_SECOND,
    bodyGraceMs: settings.BODY_GRACE_MS,
    maxReceivingBytes: settings.MAX_RECEIVING_BYTES,
    maxSendingBytes: settings.MAX_SENDING_BYTES,
    maxConnections,
    maxConnectionsPerAddress: perAddress,
  };
  return {
    limits,
    drainDelayMs: settings.DRAIN_DELAY_MS,
    metricsPort: settings.METRICS_PORT,
    publicUrl: settings.PUBLIC_URL,
    clientIdKey: settings.CLIENT_ID_KEY_FILE,
  };
}

const MIN_KEY_CHARACTERS = 32;

/** Returns the key without surrounding white space. Throws an Error for one that is short enough to be guessed. */
function readClientIdKey(text: string): string {
  const key = text.trim();
  if (key.length < MIN_KEY_CHARACTERS) throw new Error(`must name a file with at least ${String(MIN_KEY_CHARACTERS)} characters`);
  return key;
}

/** The limits of a server whose process sets none. */
export const DEFAULT_LIMITS: TrafficLimits = toServiceOptions(readSettings(serviceSettings, {})).limits;
