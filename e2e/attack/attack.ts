/** What an attack is, and what it is given to work with. */
import type { Random } from './wire/random.ts';
import type { OwnSystem, ProcessName, ServiceName } from './target/system.ts';
import type { Connections, Address } from './wire/connections.ts';

export const FAMILIES = ['messages', 'documents', 'slow clients', 'REST', 'HTTP', 'WebSocket', 'HTTP/2', 'tokens', 'crashes'] as const;
export type Family = (typeof FAMILIES)[number];

/** One entry of the table in `attacks.ts`. */
export interface Attack {
  /** Completes "it withstands …". */
  readonly name: string;
  /** The process that it tries to end, to starve or to mislead. */
  readonly target: ProcessName;
  readonly family: Family;
  /** The sentence of a specification, or the limit, that it tries to break. */
  readonly clause: string;
  /** Needs a system that the suite started: its keys, its databases or its TLS. */
  readonly needs?: 'own' | 'tls';
  /** Whether it is made to starve others: an honest client's latency is measured before it and during it. */
  readonly isLoad?: true;
  /** Whether the short form for CI runs it. */
  readonly isShort?: true;
  /** Processes that it ends or stops itself; they may have another process id afterwards. */
  readonly restarts?: readonly ProcessName[];
  /** Returns what was observed, in a few words. Throws {@link Breach} when it reached what it tried. */
  readonly run: (field: Field) => Promise<string>;
}

/** What an attack works on. */
export interface Field {
  readonly addresses: Readonly<Record<ServiceName, Address>>;
  /** Opens connections; the runner closes what an attack leaves open. */
  readonly connections: Connections;
  /** The same on every run with the same seed, for each attack its own. */
  readonly random: Random;
  /** 1 in the full run, less in the short form: what counts of requests are multiplied by. */
  readonly scale: number;
  /** Present in attacks that need it. */
  readonly own: OwnSystem | undefined;
}

/** The attack reached what it tried: the message says what, and how it was seen. */
export class Breach extends Error {}

/** Throws {@link Breach} unless the condition holds. */
export function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Breach(message);
}

/** A count of requests for this run, at least one. */
export function scaled({ scale }: Field, count: number): number {
  return Math.max(1, Math.round(count * scale));
}

/** The system of an attack that `needs` one. */
export function requireOwn({ own }: Field): OwnSystem {
  if (!own) throw new Error('This attack needs a system that the suite started');
  return own;
}

/** The services that speak GraphQL. */
export const GRAPHQL_SERVICES = ['gateway', 'users', 'orders', 'content'] as const satisfies readonly ServiceName[];

/** The same attack on several processes. */
export function atEach<Name extends ServiceName>(targets: readonly Name[], make: (target: Name) => Attack): Attack[] {
  return targets.map(make);
}

/** An attack on the bridge by REST, unless it says otherwise. */
export function restAttack(name: string, run: Attack['run'], rest: Partial<Attack> & Pick<Attack, 'clause'>): Attack {
  return { name, target: 'rest-bridge', family: 'REST', ...rest, run };
}
