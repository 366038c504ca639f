/**
 * One or several machines of the system: each has all five processes, and they share the databases, the files and the keys. Several share
 * a Redis and a NATS server too, and are behind two load balancers, one for bridges and one for gateways. A process calls only processes
 * of its own machine: the loss of one machine takes nothing from the others.
 */
import type { TestRedis } from '@trestle/limits/test-redis';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { type Front, startFront } from './front.ts';
import { type Processes, type ProcessesOptions, startProcesses } from './processes.ts';

/** One machine. */
export interface StackNode extends Pick<Processes, 'subgraphs' | 'gateway' | 'bridge' | 'startGateway' | 'startBridge'> {
  /** Ends all of its processes at once with SIGKILL. */
  kill(): Promise<void>;
}

export interface NodesOptions extends ProcessesOptions {
  /** How many machines. */
  readonly count: number;
}

export interface Nodes extends Pick<Processes, 'subgraphs' | 'settings' | 'startGateway' | 'startBridge' | 'startSubgraph' | 'revive'> {
  /** The addresses of the load balancers; with one machine those of its bridge and its gateway. */
  readonly rest: string;
  readonly gateway: string;
  /** The addresses of the bridge and the gateway of the first machine, for requests that a load balancer refuses or changes itself. */
  readonly direct: { readonly rest: string; readonly gateway: string };
  readonly nodes: readonly StackNode[];
  /** Undefined with one machine, and where there is no Redis. */
  readonly redis: TestRedis | undefined;
  /** Ends a subgraph on every machine, by SIGKILL unless another signal is given. `revive` starts it on every machine. */
  kill: (name: Parameters<Processes['revive']>[0], signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
  stop(): Promise<void>;
}

/** Starts them all. What starts a single process starts it on the first machine. */
export async function startNodes({ count, env, ...options }: NodesOptions): Promise<Nodes> {
  const services = count > 1 ? await startServices() : undefined;
  const { REST_PORT: restPort = '0', ...bridgeEnv } = options.bridgeEnv;
  const gatewayPort = count > 1 ? await reserveTestPort() : 0;
  const behindFronts = { PUBLIC_GATEWAY_URL: `http://127.0.0.1:${String(gatewayPort)}/graphql`, ...bridgeEnv };
  // The public port is that of the load balancer.
  const own = { ...options, env: { ...services?.settings, ...env }, ...(count > 1 && { bridgeEnv: behindFronts }) };
  const all = await Promise.all(Array.from({ length: count }, () => startProcesses(own)));
  const [first] = all;
  if (!first) throw new Error('A stack has at least one node.');
  const front = (name: 'bridge' | 'gateway', port: number) =>
    startFront(
      all.map((processes) => processes[name].port),
      { port },
    );
  const fronts = await settleFronts(count > 1 ? [front('bridge', Number(restPort)), front('gateway', gatewayPort)] : [], async () => {
    await Promise.all([...all.map((processes) => processes.end('SIGTERM')), services?.stop()]);
  });
  return {
    rest: fronts[0]?.url ?? first.bridge.url,
    gateway: fronts[1]?.url ?? first.gateway.url,
    direct: { rest: first.bridge.url, gateway: first.gateway.url },
    nodes: all.map((processes) => ({ ...processes, kill: () => processes.end('SIGKILL') })),
    redis: services?.redis,
    subgraphs: first.subgraphs,
    settings: first.settings,
    startGateway: (own) => first.startGateway(own),
    startBridge: (own) => first.startBridge(own),
    startSubgraph: (name, nodeOptions) => first.startSubgraph(name, nodeOptions),
    async kill(name, signal = 'SIGKILL') {
      await Promise.all(all.map(({ subgraphs }) => subgraphs[name].end(signal)));
    },
    async revive(name) {
      await Promise.all(all.map((processes) => processes.revive(name)));
    },
    async stop() {
      await Promise.all(fronts.map((front) => front.stop()));
      await Promise.all(all.map((processes) => processes.end('SIGTERM')));
      await services?.stop();
    },
  };
}

/** Resolves when all have started. When one cannot, for example because its port was taken, ends the others and what is behind them. */
async function settleFronts(starting: readonly Promise<Front>[], endServers: () => Promise<void>): Promise<readonly Front[]> {
  try {
    return await Promise.all(starting);
  } catch (error) {
    await Promise.allSettled([...starting.map(async (each) => (await each).stop()), endServers()]);
    throw error;
  }
}

/** Starts what machines share. Both programs write to stderr when they are not installed, and the machines do without. */
async function startServices() {
  // Most tests have one machine, and need not load these.
  const [{ startTestRedis }, { startTestNats }] = await Promise.all([
    import('@trestle/limits/test-redis'),
    import('@trestle/chassis/events/nats/test-nats'),
  ]);
  const [redis, nats] = await Promise.all([startTestRedis(), startTestNats()]);
  return {
    redis,
    settings: { ...(redis && { REDIS_URL: redis.url }), ...(nats && { NATS_URL: nats.url }) },
    async stop() {
      await Promise.all([redis?.stop(), nats?.stop()]);
    },
  };
}
