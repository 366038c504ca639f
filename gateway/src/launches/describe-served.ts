/** What `/readyz` says about the supergraphs that a process serves. No I/O. */
import type { ServedSupergraph } from './delivered.ts';

/** A graph of the process. */
interface DescribedGraph {
  readonly place: { readonly name?: string | undefined };
  readonly readServed: () => readonly ServedSupergraph[];
}

/**
 * Returns `supergraph`, the hash, with `launch`, `release` and `canary` for what comes from the registry. For several graphs it returns `supergraphs` and
 * `launches`, by the names of the graphs.
 */
export function describeServed(graphs: readonly DescribedGraph[]): Record<string, unknown> {
  const [only] = graphs;
  if (only && only.place.name === undefined) {
    const { hash, ...launch } = describeGraph(only.readServed());
    return { supergraph: hash, ...launch };
  }
  const described = graphs.map(({ place: { name = '' }, readServed }) => {
    const { hash, ...launch } = describeGraph(readServed());
    return { name, hash, launch };
  });
  const launches = described.filter(({ launch }) => 'launch' in launch);
  return {
    supergraphs: Object.fromEntries(described.map(({ name, hash }) => [name, hash])),
    ...(launches.length > 0 && { launches: Object.fromEntries(launches.map(({ name, launch }) => [name, launch])) }),
  };
}

function describeGraph(served: readonly ServedSupergraph[]) {
  const [current, canary] = [served.find(({ role }) => role === 'current'), served.find(({ role }) => role === 'canary')];
  return {
    hash: current?.hash,
    ...current?.launch,
    ...(canary && { canary: { launch: canary.launch?.launch, percent: canary.percent } }),
  };
}
