import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Admission, type AdmissionOptions, createAdmission } from './admission.ts';
import type { Slot, Task } from './client-queues.ts';
import { Turn } from './turn.ts';

let utilization = 1;
let admission: Admission;
afterEach(() => {
  admission.close();
});

interface Begun {
  readonly name: string;
  readonly slot: Slot;
}

/** The first letter of a request's name is its client. */
function create(options: AdmissionOptions = {}) {
  utilization = 1;
  admission = createAdmission({ readUtilization: () => utilization, ...options });
  const begun: Begun[] = [];
  const toTask = (name: string, bytes = 0): Task => ({
    client: name.slice(0, 1),
    bytes,
    begin: (slot) => {
      begun.push({ name, slot });
    },
  });
  const enter = (...names: string[]) => names.map((name) => admission.enter(toTask(name)));
  const names = (client = '') => begun.map(({ name }) => name).filter((name) => name.startsWith(client));
  return { begun, toTask, enter, names };
}

/** One request of each of seven clients: an equal share of the first limit is then one or two requests. */
const OTHERS = ['c0', 'd0', 'e0', 'f0', 'g0', 'h0', 'i0'];

const many = (client: string, count: number) => Array.from({ length: count }, (_, index) => `${client}${String(index)}`);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setTimeout(5);
}

describe('admission', () => {
  it('admits every request of a client that is alone', () => {
    const { enter, names } = create();
    enter(...many('a', 500));
    expect(names()).toHaveLength(500);
  });

  it('lets a client that has nothing in flight begin at once, however many requests of another client wait', () => {
    const { enter, names } = create();
    enter('b0', ...many('a', 100), 'c0');
    expect(names()).toHaveLength(17);
    expect(names().at(-1)).toBe('c0');
  });

  it('admits two requests while the process is busy, and the first of each other client', async () => {
    // Both clients stay present, however long the machine takes.
    const all = create({ now: () => 0 });
    const present = setInterval(() => all.enter('b'), 20);
    all.enter('b', ...many('a', 100));
    const own = () => all.begun.filter(({ name }) => name.startsWith('a'));
    let most = 0;
    for (let ended = 0; ended < 80; ended++) {
      await until(() => own().length > ended);
      await setTimeout(5);
      // The limit falls tick by tick.
      if (ended >= 60) most = Math.max(most, own().length - ended);
      own()[ended]?.slot.release();
    }
    clearInterval(present);
    expect(most).toBeLessThanOrEqual(2);
  });

  it('lets each client have an equal share in flight, however many requests the others have', () => {
    const { enter, names } = create();
    enter('a', 'b', ...many('a', 40), ...many('b', 40), ...many('c', 40));
    expect(['a', 'b', 'c'].map((client) => names(client).length)).toEqual([15, 8, 5]);
  });

  it('begins waiting requests of each client in turn', async () => {
    const { enter, names, begun } = create();
    enter('a', 'b', ...many('a', 40), ...many('b', 40));
    const before = begun.length;
    // Both have more than their share in flight. As these requests end, both have turns.
    for (const { slot } of [...begun]) slot.release();
    await until(() => begun.length >= before + 4);
    const next = names().slice(before);
    expect(next.filter((name) => name.startsWith('a')).length).toBeGreaterThan(1);
    expect(next.filter((name) => name.startsWith('b')).length).toBeGreaterThan(1);
  });

  it('admits more requests while the event loop is idle', async () => {
    const { enter, names } = create();
    utilization = 0.1;
    const present = setInterval(() => enter('b'), 100);
    enter('b', ...many('a', 100));
    expect(names('a').length).toBeLessThan(20);
    await until(() => names('a').length === 100);
    clearInterval(present);
  });

  it('does not limit a client once it is alone', async () => {
    const { enter, names } = create();
    enter('b0', ...many('a', 100));
    await until(() => names().length === 101);
    // What ends is replaced by more than one each time: nothing waits in the end, though nothing ends.
    enter(...many('a', 100));
    await until(() => names().length === 201);
  });

  it('begins waiting requests for a few milliseconds in each iteration of the event loop', async () => {
    let clock = 0;
    let iteration = 0;
    const begunIn = new Map<number, number>();
    const all = create({ now: () => clock });
    all.enter('b', ...many('a', 40));
    for (const name of many('a', 100)) {
      const begin = () => {
        clock += 3;
        begunIn.set(iteration, (begunIn.get(iteration) ?? 0) + 1);
      };
      admission.enter({ ...all.toTask(name), begin });
    }
    // Those in flight no longer count, so that many places are free at the same time.
    clock += 2500;
    const count = () => [...begunIn.values()].reduce((sum, each) => sum + each, 0);
    while (count() < 30) {
      await setImmediate();
      iteration++;
    }
    expect(Math.max(...begunIn.values())).toBeLessThanOrEqual(2);
  });

  it('does not count requests that have been in flight for two seconds', async () => {
    const { enter, names } = create();
    const present = setInterval(() => enter('b'), 100);
    enter('b', ...many('a', 30));
    expect(names('a').length).toBeLessThan(20);
    await until(() => names('a').length === 30);
    clearInterval(present);
  });

  it('lets a client that has used little time have eight requests in flight while requests of a costly client wait', () => {
    const { enter, names } = create();
    enter('b0', ...many('a', 40));
    enter(...OTHERS);
    admission.charge('a', 100);
    enter(...many('b', 20));
    expect([names('a').length, names('b').length]).toEqual([15, 8]);
  });

  it('lets a client that has used little time begin, however far the limit has fallen below the requests of others in flight', async () => {
    const { begun, enter, names } = create();
    utilization = 0;
    enter('b0', ...many('a', 60));
    await until(() => {
      enter('c0');
      return names('a').length === 60;
    });
    utilization = 1;
    for (let n = 1; n <= 20; n++) {
      admission.charge('a', 100);
      enter('c0', `b${n}`);
      expect(names().at(-1)).toBe(`b${n}`);
      begun.at(-1)?.slot.release();
      await setTimeout(10);
    }
  });

  it('begins requests that stop the event loop one after the other, and between those of other clients', async () => {
    let clock = 0;
    const { begun, enter, names } = create({ now: () => clock });
    enter('b0', 'a0');
    admission.charge('a', 40);
    enter('a1', 'a2');
    for (let iteration = 0; iteration < 20; iteration++) await setImmediate();
    expect(names('a')).toEqual(['a0']);
    // Other requests have had as much time.
    clock += 80;
    await until(() => names('a').length > 1);
    expect(names('a')).toEqual(['a0', 'a1']);
    admission.charge('a', 40);
    for (const { slot } of [...begun]) slot.release();
    // Nothing else is in flight.
    await until(() => names('a').length > 2);
  });

  it('lets a client that has used as much time as the others wait', () => {
    const { enter, names } = create();
    enter('b0', ...many('a', 40));
    enter(...OTHERS);
    admission.charge('a', 100);
    admission.charge('b', 100);
    enter(...many('b', 20));
    expect(names('b')).toHaveLength(1);
  });

  it('bounds what clients that have used little time have in flight beside the limit', () => {
    const { enter, names } = create();
    enter('b0', ...many('a', 40));
    admission.charge('a', 100);
    const others = Array.from('cdefghijklmnopqrstuvwxyz');
    for (const client of others) enter(...many(client, 8));
    // The limit, as many beside it, and of each client that came later its equal share, which is one in the end.
    expect(names().length).toBeLessThan(16 + 16 + 2 * others.length);
  });

  it('measures no time while a client is alone', () => {
    const { enter, names } = create();
    enter('a0');
    admission.charge('a', 100);
    let isCalled = false;
    admission.measure('a', () => (isCalled = true));
    enter('b0', ...many('a', 40));
    enter(...OTHERS);
    enter(...many('b', 20));
    expect(isCalled).toBe(true);
    expect(names('b').length).toBeLessThan(8);
  });

  it.each([
    ['requests', { maxWaiting: 5 }],
    ['bytes', { maxWaitingBytes: 50 }],
  ])('refuses requests of a client that has too many %s waiting, and of no other client', (_, limits) => {
    const { toTask, names } = create(limits);
    const enter = (name: string) => admission.enter(toTask(name, 10));
    enter('b0');
    const taken = many('a', 30).map(enter);
    expect(taken.filter(Boolean)).toHaveLength(names('a').length + 5);
    expect(enter('c0')).toBe(true);
    expect(enter('c1')).toBe(true);
  });

  it('accepts another waiting request after one is removed, and never begins the removed one', async () => {
    const { toTask, enter, names } = create({ maxWaiting: 1 });
    enter('b0', ...many('a', 15));
    const gone = toTask('a-gone');
    expect(admission.enter(gone)).toBe(true);
    expect(enter('a-next')).toEqual([false]);
    admission.leave(gone);
    expect(enter('a-next')).toEqual([true]);
    await until(() => names().includes('a-next'));
    expect(names()).not.toContain('a-gone');
  });
});

describe('Turn', () => {
  it('never begins after it has ended, and gives its place to the next one', async () => {
    const { enter, begun } = create();
    enter('b0', ...many('a', 15));
    const done: string[] = [];
    const [first, second] = ['first', 'second'].map((name) => {
      const turn = new Turn(admission, { client: 'a', bytes: 0 });
      turn.take(() => done.push(name));
      return turn;
    });
    begun[1]?.slot.release();
    // Its place is taken already, and it has not begun yet.
    first?.end();
    await until(() => done.length > 0);
    expect(done).toEqual(['second']);
    second?.end();
  });
});
