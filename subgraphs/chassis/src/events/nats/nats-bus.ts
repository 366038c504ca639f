/** The connection to NATS JetStream: one stream for the events of each subgraph (ADR 24). */
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { fail } from '@trestle/schema/errors';

const CONNECT_MS = 3000;
const RECONNECT_MS = 500;
const MS_IN_NS = 1_000_000;
const HOUR_MS = 3_600_000;
const STREAM_NOT_FOUND = 10_059;

/** What the bus is created from. */
export interface NatsOptions {
  /** The address, such as nats://user:password@host:4222 or tls://host:4222. */
  readonly url: string;
  /** Begins the names of all streams and subjects: several systems may share one server. */
  readonly prefix: string;
  /** How long the bus keeps events. */
  readonly retentionHours: number;
}

/** An open connection. */
export interface OpenBus {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
}

/** A bus that connects when it is first used, and again when its connection is lost. */
export interface NatsBus {
  /** Resolves with the connection. Throws SERVICE_UNAVAILABLE. */
  readonly open: () => Promise<OpenBus>;
  readonly streamOf: (source: string) => string;
  readonly subjectOf: (source: string, type: string) => string;
  /** Creates the stream of a subgraph's events unless it exists: a stream that operators have changed remains as it is. */
  readonly ensureStream: (source: string) => Promise<OpenBus>;
  readonly close: () => Promise<void>;
}

/** Creates the bus. */
export function createNatsBus({ url, prefix, retentionHours }: NatsOptions): NatsBus {
  let opening: Promise<NatsConnection> | undefined;
  let isClosed = false;

  async function connection(): Promise<NatsConnection> {
    if (isClosed) throw fail('SERVICE_UNAVAILABLE', 'The service is shutting down.');
    opening ??= connectTo(url).catch((cause: unknown) => {
      opening = undefined;
      throw fail('SERVICE_UNAVAILABLE', 'NATS cannot be reached.', { cause });
    });
    const open = await opening;
    if (!open.isClosed()) return open;
    opening = undefined;
    return connection();
  }

  const open = async (): Promise<OpenBus> => {
    const nats = await connection();
    const { jetstream, jetstreamManager } = await import('./nats-library.ts');
    return { js: jetstream(nats), jsm: await jetstreamManager(nats, { checkAPI: false }) };
  };
  const streamOf = (source: string) => `${prefix}-events-${source}`;
  const subjectOf = (source: string, type: string) => `${prefix}.events.${source}.${type}`;

  return {
    open,
    streamOf,
    subjectOf,
    async ensureStream(source) {
      const bus = await open();
      const name = streamOf(source);
      await bus.jsm.streams.info(name).catch(async (error: unknown) => {
        if ((error as { code?: unknown }).code !== STREAM_NOT_FOUND) throw error;
        const maxAge = retentionHours * HOUR_MS * MS_IN_NS;
        await bus.jsm.streams.add({ name, subjects: [subjectOf(source, '>')], storage: 'file', discard: 'old', max_age: maxAge });
      });
      return bus;
    },
    async close() {
      isClosed = true;
      await opening?.then((open) => open.close()).catch(() => undefined);
    },
  };
}

/** Connects with the libraries of NATS, which are loaded where they are used only. Credentials are not part of the address. */
async function connectTo(url: string): Promise<NatsConnection> {
  const { connect } = await import('./nats-library.ts');
  const { protocol, host, username, password } = new URL(url);
  return connect({
    servers: `${protocol}//${host}`,
    ...(username !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    timeout: CONNECT_MS,
    reconnectTimeWait: RECONNECT_MS,
    maxReconnectAttempts: -1,
  });
}
