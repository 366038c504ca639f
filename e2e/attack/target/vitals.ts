/** Whether every process is as it was before an attack: same process, ready, answering, and not grown. */
import { SERVICES, type ProcessName, type ServiceName, type System } from './system.ts';
import { findListener, readResidentBytes } from './process-table.ts';
import type { Connections } from '../wire/connections.ts';
import { pause } from '../wire/connections.ts';
import { ask, askGraphql } from '../wire/http.ts';

/** No attack may raise a process by more than what it is watched for, for longer than this. */
const MAX_GROWN_MS = 10_000;
const SAMPLE_MS = 200;
const ANSWER_MS = 10_000;
const MIB = 1024 * 1024;

export interface Damage {
  readonly process: ProcessName;
  readonly what: string;
}

export interface Watch {
  /** Ends the watch, after at most some 20 s; `mayRestart` names processes that the attack ended itself. */
  finish(mayRestart: readonly ProcessName[]): Promise<readonly Damage[]>;
  /** The most that any process grew, in MiB, and which one; available after `finish`. */
  growth(): { readonly process: ProcessName; readonly mib: number };
}

interface Watched {
  readonly name: ProcessName;
  readonly pid: number;
  readonly baseBytes: number;
  peakBytes: number;
  /** Since when it is above the limit, and the longest such time. */
  grownSince: number | undefined;
  grownMs: number;
}

/** What the processes may grow by, and what from. */
export interface GrowthLimit {
  readonly maxGrowthBytes: number;
  /** The resident memory of each process under ordinary load. */
  readonly ordinary: OrdinarySizes;
}

export type OrdinarySizes = ReadonlyMap<ProcessName, number>;

/** The resident memory of all processes as it is now. */
export function readSizes(system: System): OrdinarySizes {
  return new Map(listProcesses(system).map(({ name, pid }) => [name, readResidentBytes(pid) ?? 0]));
}

/**
 * Starts to watch all processes of a system; none may grow by more than `maxGrowthBytes` for longer than 10 s. A process that has just given memory back
 * grows to its ordinary size with any load: that is no growth.
 */
export function watchVitals(system: System, connections: Connections, { maxGrowthBytes, ordinary }: GrowthLimit): Watch {
  const watched = listProcesses(system).map(({ name, pid }): Watched => {
    const baseBytes = Math.max(readResidentBytes(pid) ?? 0, ordinary.get(name) ?? 0);
    return { name, pid, baseBytes, peakBytes: baseBytes, grownSince: undefined, grownMs: 0 };
  });
  const sampler = setInterval(() => {
    for (const each of watched) sample(each, maxGrowthBytes);
  }, SAMPLE_MS);
  return {
    async finish(mayRestart) {
      const answers = await Promise.all(SERVICES.map((name) => findSilence(name, system, connections)));
      const deadline = Date.now() + MAX_GROWN_MS + SAMPLE_MS * 2;
      while (Date.now() < deadline && watched.some(({ grownSince }) => grownSince !== undefined)) await pause(SAMPLE_MS);
      clearInterval(sampler);
      return [...answers.filter((each) => each !== undefined), ...watched.flatMap((each) => findDamage(each, system, mayRestart))];
    },
    growth() {
      const [first] = watched
        .map(({ name, peakBytes, baseBytes }) => ({ process: name, mib: (peakBytes - baseBytes) / MIB }))
        .sort((a, b) => b.mib - a.mib);
      return first ?? { process: 'supervisor', mib: 0 };
    },
  };
}

export interface ListedProcess {
  readonly name: ProcessName;
  readonly pid: number;
}

/** The processes of a system as they are now. Throws when one does not listen. */
export function listProcesses({ addresses, own }: System): ListedProcess[] {
  const services = SERVICES.map((name): ListedProcess => {
    const pid = findListener(addresses[name].port);
    if (pid === undefined) throw new Error(`No process listens on port ${addresses[name].port}, the ${name}'s`);
    return { name, pid };
  });
  return own ? [...services, { name: 'supervisor', pid: own.supervisorPid }] : services;
}

function sample(each: Watched, maxGrowthBytes: number): void {
  const bytes = readResidentBytes(each.pid) ?? 0;
  each.peakBytes = Math.max(each.peakBytes, bytes);
  if (bytes - each.baseBytes <= maxGrowthBytes) each.grownSince = undefined;
  else {
    each.grownSince ??= Date.now();
    each.grownMs = Math.max(each.grownMs, Date.now() - each.grownSince);
  }
}

function findDamage({ name, pid, baseBytes, peakBytes, grownMs }: Watched, system: System, mayRestart: readonly ProcessName[]): Damage[] {
  if (mayRestart.includes(name)) return [];
  const now = name === 'supervisor' ? pid : findListener(system.addresses[name].port);
  if (now !== pid || readResidentBytes(pid) === undefined) return [{ process: name, what: `process ${pid} ended` }];
  if (grownMs <= MAX_GROWN_MS) return [];
  return [{ process: name, what: `grew from ${toMib(baseBytes)} to ${toMib(peakBytes)} MiB for ${(grownMs / 1000).toFixed(0)} s` }];
}

function toMib(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}

/** Waits up to 10 s for readiness and an ordinary answer. */
async function findSilence(name: ServiceName, { addresses }: System, connections: Connections): Promise<Damage | undefined> {
  const address = addresses[name];
  // Probes are answered without TLS on the machine itself.
  const probe = { host: address.host, port: address.port };
  const deadline = Date.now() + ANSWER_MS;
  for (;;) {
    const patienceMs = Math.max(100, deadline - Date.now());
    const statuses = await Promise.all([
      ask(connections, probe, { path: '/readyz', patienceMs }),
      name === 'rest-bridge'
        ? ask(connections, address, { path: '/v1/products?limit=1', patienceMs })
        : askGraphql(connections, address, { query: '{__typename}' }, { patienceMs }),
    ]).then(
      (replies) => replies.map(({ status }) => status),
      () => [0, 0],
    );
    if (statuses.every((status) => status === 200)) return undefined;
    const last = `readiness ${statuses[0] ?? 0}, ordinary request ${statuses[1] ?? 0}`;
    if (Date.now() >= deadline) return { process: name, what: `no answer within ${ANSWER_MS / 1000} s: ${last}` };
    await pause(SAMPLE_MS);
  }
}
