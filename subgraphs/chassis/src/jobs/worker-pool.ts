/**
 * The connections of graphile-worker. It records the end of an attempt by a statement whose failure nothing handles, which would end the
 * process when the database is lost, unless the error has one of the codes after which it tries again: after 3 s, then at most every 2 min.
 */
import pg from 'pg';

/** `cannot_connect_now`, as a server answers that starts. */
const RETRIED = '57P03';

/** A pool whose errors graphile-worker takes for temporary. What an attempt did is recorded in its own transaction, so repeating is safe. */
export class WorkerPool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ ...config, Client: WorkerClient });
    this.on('error', () => undefined);
    // graphile-worker asks every pool for this listener, and warns without it.
    this.on('connect', (client) => client.on('error', () => undefined));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void;
  override connect(callback?: Parameters<pg.Pool['connect']>[0]): unknown {
    if (!callback) return super.connect().catch(throwRetried);
    super.connect(callback);
    return undefined;
  }
}

/** The rejections of its statements have the code; errors that callbacks get are unchanged. */
class WorkerClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const send = this.query.bind(this) as (...args: unknown[]) => unknown;
    const query = (...args: unknown[]) => {
      const sent = send(...args);
      return sent instanceof Promise ? sent.catch(throwRetried) : sent;
    };
    Object.assign(this, { query });
  }
}

function throwRetried(cause: unknown): never {
  throw Object.assign(new Error(cause instanceof Error ? cause.message : String(cause), { cause }), { code: RETRIED });
}
