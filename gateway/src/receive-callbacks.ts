/** Receives events of subgraphs by callbacks, where an address for them is set. */
import type { Log } from '@trestle/log';
import type { Config } from './config.ts';
import { CallbackRegistry } from './upstream/subscriptions/callbacks/callback-registry.ts';
import { serveCallbacks } from './upstream/subscriptions/callbacks/callback-server.ts';

/** Callbacks that are received. */
export interface Callbacks {
  /** Undefined without an address. */
  readonly registry: CallbackRegistry | undefined;
  /** Closes the port. */
  stop(): void;
}

type CallbackSettings = Pick<
  Config,
  'SUBSCRIPTION_CALLBACK_URL' | 'SUBSCRIPTION_CALLBACK_PORT' | 'SUBSCRIPTION_CALLBACK_HEARTBEAT_MS' | 'HOST'
>;

/** Listens for callbacks. Rejects if the port is taken. */
export async function receiveCallbacks(settings: CallbackSettings, log: Log): Promise<Callbacks> {
  const { SUBSCRIPTION_CALLBACK_URL: url, SUBSCRIPTION_CALLBACK_PORT: ownPort, SUBSCRIPTION_CALLBACK_HEARTBEAT_MS: heartbeatMs } = settings;
  if (url === undefined) return { registry: undefined, stop: () => undefined };
  const { protocol, port, pathname: path } = new URL(url);
  const registry = new CallbackRegistry({ url, heartbeatMs });
  const portOfUrl = Number(port || (protocol === 'https:' ? 443 : 80));
  const server = await serveCallbacks({ registry, path, host: settings.HOST, port: ownPort ?? portOfUrl, log });
  return {
    registry,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
