/** Runs attacks one after the other and looks at every process after each. */
import { type Attack, Breach, type Field } from './attack.ts';
import { startControl } from './honest/control.ts';
import { type HonestClient, type HonestReport, startHonestClient } from './honest/honest.ts';
import type { System } from './target/system.ts';
import { type Damage, type OrdinarySizes, readSizes, watchVitals } from './target/vitals.ts';
import { createConnections, pause } from './wire/connections.ts';
import { ask, askGraphql, inParallel } from './wire/http.ts';
import { createRandom } from './wire/random.ts';

export interface Outcome {
  readonly attack: Attack;
  /** `slow`: it held, but others' p99 grew more than {@link MAX_SLOWDOWN} times as much as that of the control. */
  readonly verdict: 'held' | 'slow' | 'broken';
  /** What was observed; of a broken one what went wrong. */
  readonly note: string;
  readonly seconds: number;
  /** The most that a process grew meanwhile. */
  readonly growth: { readonly process: string; readonly mib: number };
  /** Of attacks that are loads: the honest client's figures before and during. */
  readonly honest?: { readonly before: HonestReport; readonly during: HonestReport };
}

export interface RunOptions {
  readonly system: System;
  readonly attacks: readonly Attack[];
  readonly seed: string;
  readonly scale: number;
  readonly onOutcome: (outcome: Outcome) => void;
}

export const MAX_SLOWDOWN = 3;
/** The short form starts with a colder system, whose heaps have yet to reach their size. */
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;
const WARM_UP_REQUESTS = 1500;
const MAX_WARM_UPS = 8;
/** A process that grows by less than this has its ordinary size. */
const SETTLED_BYTES = 8 * 1024 * 1024;
/** A share of the honest client's requests: as many may fail as lie beyond the 99th percentile. */
const MAX_FAILED_SHARE = 0.01;
/** So many that each sends 75 requests in a minute, fewer than the default limit. */
const LIMITED_CLIENTS = 40;
const BEFORE_MS = 3000;
/** What a load is measured over at least. */
const DURING_MS = 3000;
const ATTACK_MS = 120_000;

/** Never rejects because of an attack: what goes wrong is its outcome. */
export async function runAttacks({ system, attacks, seed, scale, onOutcome }: RunOptions): Promise<void> {
  const { 'rest-bridge': bridge, gateway } = system.addresses;
  const target = ({ host, port }: { host: string; port: number }) => ({ host, port, isTls: bridge.certificate !== undefined });
  const control = await startControl();
  const honest = startHonestClient({
    targets: [
      { kind: 'bridge', ...target(bridge) },
      { kind: 'gateway', ...target(gateway) },
      { kind: 'control', host: '127.0.0.1', port: control.port, isTls: false },
    ],
    certificate: bridge.certificate,
    clients: system.own?.hasDefaultLimits === true ? LIMITED_CLIENTS : 1,
  });
  try {
    const ordinary = await warmUp(system, scale < 1 ? 1 : MAX_WARM_UPS);
    for (const attack of attacks) onOutcome(await runAttack(attack, { system, honest, ordinary, seed, scale }));
  } finally {
    await honest.stop();
    await control.stop();
  }
}

/**
 * Sends ordinary load until no process grows any more, at most so many times. Returns the most that each process has taken: a young generation grows
 * with any load, and takes memory of the system when each half of it is used for the first time.
 */
async function warmUp(system: System, times: number): Promise<OrdinarySizes> {
  let largest = readSizes(system);
  for (let time = 0; time < times; time++) {
    await sendOrdinaryLoad(system.addresses);
    const before = largest;
    largest = new Map([...readSizes(system)].map(([name, bytes]) => [name, Math.max(bytes, before.get(name) ?? 0)]));
    if ([...largest].every(([name, bytes]) => bytes - (before.get(name) ?? 0) < SETTLED_BYTES)) break;
  }
  return largest;
}

async function sendOrdinaryLoad(addresses: System['addresses']): Promise<void> {
  const connections = createConnections();
  const paths = [
    '/v1/users?limit=20',
    '/v1/products?limit=20',
    '/v1/posts?limit=20&include=author',
    '/v1/search?q=a',
    '/v1/products?limit=5',
  ];
  const query =
    '{users{id name posts{title}} productsConnection(first:20){edges{node{id name}}} postsConnection(first:20){edges{node{id author{name}}}}}';
  const calls = paths.map((path) => () => ask(connections, addresses['rest-bridge'], { path }));
  const subgraphs = (['gateway', 'users', 'orders', 'content'] as const).map(
    (name) => () => askGraphql(connections, addresses[name], { query: name === 'gateway' ? query : '{__typename}' }),
  );
  const all = [...calls, ...subgraphs];
  await inParallel(WARM_UP_REQUESTS, 16, (n) => all[n % all.length]?.() ?? Promise.resolve(undefined));
  connections.closeAll();
}

interface Bench {
  readonly system: System;
  readonly honest: HonestClient;
  readonly ordinary: OrdinarySizes;
  readonly seed: string;
  readonly scale: number;
}

async function runAttack(attack: Attack, { system, honest, ordinary, seed, scale }: Bench): Promise<Outcome> {
  const connections = createConnections();
  const field: Field = { addresses: system.addresses, own: system.own, connections, random: createRandom(seed + attack.name), scale };
  const isMeasured = attack.isLoad === true && scale === 1;
  const before = isMeasured ? await measure(honest, () => pause(BEFORE_MS)) : undefined;
  const vitals = watchVitals(system, connections, { maxGrowthBytes: scale < 1 ? 2 * MAX_GROWTH_BYTES : MAX_GROWTH_BYTES, ordinary });
  const startedAt = Date.now();
  let fault: string | undefined;
  let note = '';
  const act = async () => {
    [note, fault] = await attempt(attack, field);
  };
  let during: HonestReport | undefined;
  if (isMeasured) during = await measure(honest, () => Promise.all([act(), pause(DURING_MS)]));
  else await act();
  const seconds = (Date.now() - startedAt) / 1000;
  connections.closeAll();
  const damage = await vitals.finish(attack.restarts ?? []);
  connections.closeAll();
  const faults = [...(fault === undefined ? [] : [fault]), ...damage.map(toText), ...findRefusals(during)];
  const isSlow = before !== undefined && during !== undefined && during.p99 / before.p99 > MAX_SLOWDOWN * machineSlowdown(before, during);
  return {
    attack,
    verdict: faults.length > 0 ? 'broken' : isSlow ? 'slow' : 'held',
    note: faults.length > 0 ? faults.join('; ') : note,
    seconds,
    growth: vitals.growth(),
    ...(before && during && { honest: { before, during } }),
  };
}

/** How much slower the machine itself is during the attack; at least 1. */
export function machineSlowdown(before: HonestReport, during: HonestReport): number {
  return Math.max(1, during.controlP99 / before.controlP99);
}

async function measure(honest: HonestClient, act: () => Promise<unknown>): Promise<HonestReport> {
  honest.begin();
  await act();
  return honest.report();
}

/** Returns what the attack observed, and its fault if it reached what it tried. */
async function attempt(attack: Attack, field: Field): Promise<[note: string, fault: string | undefined]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Breach(`it was not over after ${ATTACK_MS / 1000} s`));
    }, ATTACK_MS);
  });
  try {
    return [await Promise.race([attack.run(field), late]), undefined];
  } catch (error) {
    return [
      '',
      error instanceof Breach
        ? error.message
        : `the attack failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    ];
  } finally {
    clearTimeout(timer);
  }
}

/** Others may wait, but not be turned away. */
function findRefusals(during: HonestReport | undefined): string[] {
  if (during === undefined || during.failures <= during.count * MAX_FAILED_SHARE) return [];
  return [`${during.failures} of ${during.count} requests of the honest client failed`];
}

function toText({ process, what }: Damage): string {
  return `${process} ${what}`;
}
