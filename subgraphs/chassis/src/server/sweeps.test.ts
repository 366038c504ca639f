import { afterEach, describe, expect, it } from '@jest/globals';
import { type SweepDelays, startSweeps } from './sweeps.ts';

const SHORT: SweepDelays = { intervalMs: 2, retry: { firstMs: 1, maxMs: 1 } };
const LONG: SweepDelays = { intervalMs: 60_000, retry: { firstMs: 1, maxMs: 1 } };
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Creates a sweep that fails in its first runs; `ran` resolves when it has been run this often. */
function createSweep(failures = 0) {
  let runs = 0;
  let notify: () => void = () => undefined;
  return {
    sweep: () => {
      runs++;
      notify();
      return runs <= failures ? Promise.reject(new Error('connection refused')) : Promise.resolve();
    },
    ran: async (count: number) => {
      while (runs < count) await new Promise<void>((resolve) => (notify = resolve));
    },
    runs: () => runs,
  };
}

function start(delays: SweepDelays, ...sweeps: (() => Promise<void>)[]) {
  const lines: { readonly level: string; readonly message: string }[] = [];
  const record = (level: string) => (message: string) => lines.push({ level, message });
  const { stop } = startSweeps({ info: record('info'), error: record('error') }, sweeps, delays);
  stops.push(stop);
  return { lines, stop };
}

describe('startSweeps', () => {
  it('runs the sweeps at the start and then regularly, one after another', async () => {
    const order: string[] = [];
    const record = (name: string) => async () => {
      order.push(`${name} starts`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
    };
    const last = createSweep();
    start(SHORT, record('first'), record('second'), last.sweep);
    await last.ran(2);
    expect(order.slice(0, 4)).toEqual(['first starts', 'first ends', 'second starts', 'second ends']);
  });

  it('runs again soon after a failure, which it logs as information', async () => {
    const failing = createSweep(1);
    const { lines } = start(LONG, failing.sweep);
    await failing.ran(2);
    expect(lines).toMatchObject([{ level: 'info', message: 'sweep failed' }]);
  });

  it('logs an error when a sweep fails again', async () => {
    const failing = createSweep(2);
    const { lines } = start(LONG, failing.sweep);
    await failing.ran(3);
    expect(lines.map(({ level }) => level)).toEqual(['info', 'error']);
  });

  it('runs the other sweeps when one fails', async () => {
    const failing = createSweep(1);
    const other = createSweep();
    start(LONG, failing.sweep, other.sweep);
    await other.ran(1);
  });

  it('runs nothing after it is stopped', async () => {
    const sweep = createSweep();
    const { stop } = start({ ...SHORT, intervalMs: 0 }, sweep.sweep);
    await sweep.ran(1);
    stop();
    const runs = sweep.runs();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(sweep.runs()).toBe(runs);
  });
});
