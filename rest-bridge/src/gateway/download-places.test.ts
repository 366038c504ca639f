import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Cancellation } from '@trestle/service/process/cancellation';
import { type DownloadLimits, DownloadPlaces } from './download-places.ts';

const LIMITS: DownloadLimits = { places: 3, placesOfClient: 2, waiting: 4, waitingOfClient: 3, waitMs: 1000 };

describe('DownloadPlaces', () => {
  /** The downloads that have begun, and the codes of those that were refused, in order. */
  let events: string[] = [];
  const releases = new Map<string, () => void>();
  const take = (places: DownloadPlaces, name: string, cancellation = new Cancellation()) =>
    places.take(name.charAt(0), cancellation).then(
      (release) => {
        events.push(name);
        releases.set(name, release);
      },
      (error: unknown) => {
        const { code, retryAfterSeconds } = error as { code: string; retryAfterSeconds: number };
        events.push(`${name} ${code} ${String(retryAfterSeconds)}`);
      },
    );
  const settled = () => jest.advanceTimersByTimeAsync(0);

  beforeEach(() => {
    events = [];
    releases.clear();
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('begins no more downloads of one client than its places, while another client begins', async () => {
    const places = new DownloadPlaces(LIMITS);
    for (const name of ['a1', 'a2', 'a3', 'b1']) void take(places, name);
    await settled();
    expect(events).toEqual(['a1', 'a2', 'b1']);
    releases.get('b1')?.();
    await settled();
    expect(events).toEqual(['a1', 'a2', 'b1']);
    releases.get('a1')?.();
    await settled();
    expect(events.at(-1)).toBe('a3');
  });

  it('gives the clients their turns', async () => {
    const places = new DownloadPlaces({ ...LIMITS, places: 1 });
    for (const name of ['a1', 'a2', 'a3', 'b1']) void take(places, name);
    await settled();
    for (const name of ['a1', 'a2', 'b1']) {
      releases.get(name)?.();
      await settled();
    }
    expect(events).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  it('refuses a download that has waited for too long, with the seconds after which to retry', async () => {
    const places = new DownloadPlaces(LIMITS);
    for (const name of ['a1', 'a2', 'a3']) void take(places, name);
    await jest.advanceTimersByTimeAsync(LIMITS.waitMs);
    expect(events).toEqual(['a1', 'a2', 'a3 SERVICE_UNAVAILABLE 5']);
    releases.get('a1')?.();
    void take(places, 'a4');
    await settled();
    expect(events.at(-1)).toBe('a4');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('refuses downloads at once beyond those that may wait, of one client and of all', async () => {
    const places = new DownloadPlaces(LIMITS);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'b3']) void take(places, name);
    await settled();
    expect(events).toEqual(expect.arrayContaining(['a6 SERVICE_UNAVAILABLE 5', 'b3 SERVICE_UNAVAILABLE 5']));
    expect(events).toHaveLength(5);
  });

  it('ends the wait of a client that disconnects, and gives its turn to the next', async () => {
    const places = new DownloadPlaces({ ...LIMITS, places: 1 });
    const [gone, late] = [new Cancellation(), new Cancellation()];
    void take(places, 'a1');
    void take(places, 'a2', gone);
    void take(places, 'b1');
    gone.cancel();
    late.cancel();
    void take(places, 'c1', late);
    await settled();
    expect(events).toEqual(['a1', 'a2 SERVICE_UNAVAILABLE 5', 'c1 SERVICE_UNAVAILABLE 5']);
    releases.get('a1')?.();
    releases.get('a1')?.();
    await settled();
    expect(events.at(-1)).toBe('b1');
    expect(jest.getTimerCount()).toBe(0);
  });
});
