/** The graph of `trestle dev`: what an environment has deployed, with some subgraphs replaced by those that run here. */
import type { SubgraphSource } from '@trestle/graph-checks/compose';
import { CommandError, EXIT } from '../exit-codes.ts';
import type { RegistryClient } from '../registry.ts';
import type { Sources } from '../report.ts';
import { toShownUrl } from '../shown-url.ts';
import { introspect } from '../wait-for.ts';

/** A subgraph that runs here. */
export interface DevSubgraph {
  readonly name: string;
  readonly url: URL;
}

/** Configures the graph. */
export interface DevGraphOptions {
  readonly registry: RegistryClient;
  readonly environment: string;
  readonly subgraphs: readonly DevSubgraph[];
  /** Ends requests that are in flight. */
  readonly signal: AbortSignal;
  /** Called when something cannot be read, and when it can be read again; once for each reason. */
  readonly onNotice: (text: string) => void;
}

/** The graph as it was last read. */
export interface DevGraph {
  /** Reads the environment. Throws a CommandError when that is not possible. */
  readonly open: () => Promise<void>;
  /** Reads the subgraphs that run here and, every ten seconds, the environment. Never rejects: what cannot be read stays as it was. */
  readonly read: () => Promise<void>;
  /** Returns the subgraphs, or undefined while one of them was never read. */
  readonly sources: () => SubgraphSource[] | undefined;
  /** Returns the texts that faults point into: of subgraphs that run here under their URLs. */
  readonly texts: () => Sources;
}

const REGISTRY_MS = 10_000;
const NUMBER = 'query Release($name: String!) { environment(name: $name) { release { number } } }';
const SUBGRAPHS = 'query Deployed($name: String!) { environment(name: $name) { release { number } subgraphs { name url sdl } } }';

interface Environment {
  readonly release: { readonly number: number };
  readonly subgraphs: readonly SubgraphSource[];
}

/** Creates the graph. Nothing is read yet. */
export function createDevGraph(options: DevGraphOptions): DevGraph {
  const { subgraphs, environment } = options;
  const local = new Map<string, string>();
  const notice = createNotices(options.onNotice);
  const deployed = createDeployed(options);
  return {
    open: () => deployed.read(),
    async read() {
      await Promise.all([
        notice(`Environment ${environment}`, () => deployed.read()),
        ...subgraphs.map(({ name, url }) =>
          notice(`Subgraph ${name}`, async () => {
            local.set(name, await introspect(url, { signal: options.signal }));
          }),
        ),
      ]);
    },
    sources() {
      const others = deployed.subgraphs();
      if (!others || local.size < subgraphs.length) return undefined;
      return [
        ...others.filter(({ name }) => !local.has(name)),
        ...subgraphs.map(({ name, url }) => ({ name, url: url.href, sdl: local.get(name) ?? '' })),
      ];
    },
    texts: () =>
      new Map([
        ...(deployed.subgraphs() ?? []).map(({ name, sdl }) => [name, { path: `${environment}/${name}`, text: sdl }] as const),
        ...subgraphs.map(({ name, url }) => [name, { path: toShownUrl(url), text: local.get(name) ?? '' }] as const),
      ]),
  };
}

/** Reads what the environment has deployed, and its schemas again only when there is another release. */
function createDeployed({ registry, environment, signal }: DevGraphOptions) {
  let current: Environment | undefined;
  let nextAt = 0;
  const send = async <Data>(query: string) => {
    const options = { timeoutMs: REGISTRY_MS, signal };
    const data = await registry.send<{ environment: Data | null }>(query, { name: environment }, options);
    if (data.environment) return data.environment;
    throw new CommandError(`Environment "${environment}" has no release, or the token may not read it.`, EXIT.server, 'NOT_FOUND');
  };
  return {
    subgraphs: () => current?.subgraphs,
    async read() {
      if (current && Date.now() < nextAt) return;
      nextAt = Date.now() + REGISTRY_MS;
      if (current) {
        const { release } = await send<Pick<Environment, 'release'>>(NUMBER);
        if (release.number === current.release.number) return;
      }
      current = await send<Environment>(SUBGRAPHS);
    },
  };
}

/** Returns a function that runs `read`, and reports when it begins to fail, fails for another reason, or works again. */
function createNotices(onNotice: (text: string) => void) {
  const reasons = new Map<string, string>();
  return async function notice(subject: string, read: () => Promise<void>): Promise<void> {
    try {
      await read();
      if (reasons.delete(subject)) onNotice(`${subject} can be read again.`);
    } catch (error) {
      const reason = (error instanceof Error ? error.message : String(error)).replace(/\.$/u, '');
      if (reasons.get(subject) !== reason) onNotice(`${subject} cannot be read: ${reason}.`);
      reasons.set(subject, reason);
    }
  };
}
