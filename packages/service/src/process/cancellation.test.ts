import { describe, expect, it } from '@jest/globals';
import { Cancellation, OperationExpired } from './cancellation.ts';

/** Records the reasons that requests are aborted for. */
function record() {
  const reasons: Error[] = [];
  return { reasons, abort: (reason: Error) => reasons.push(reason) };
}

describe('Cancellation', () => {
  it('aborts the requests that were added, and each that is added later, when the client disconnects', () => {
    const cancellation = new Cancellation();
    const [early, late] = [record(), record()];
    cancellation.add(early);
    expect([cancellation.isCancelled, cancellation.reason]).toEqual([false, undefined]);
    cancellation.cancel();
    cancellation.add(late);
    expect([...early.reasons, ...late.reasons].map(({ message }) => message)).toEqual(Array(2).fill('The client disconnected'));
    expect(cancellation.isCancelled).toBe(true);
  });

  it('aborts once, for the reason that comes first', () => {
    const cancellation = new Cancellation();
    const request = record();
    cancellation.add(request);
    cancellation.expire();
    cancellation.cancel();
    expect(request.reasons).toEqual([cancellation.reason]);
    expect(cancellation.reason).toBeInstanceOf(OperationExpired);
  });

  it('ends the cancellations that were derived from it, and not the other way round', () => {
    const cancellation = new Cancellation();
    const [of, ofDerived] = [record(), record()];
    cancellation.add(of);
    const derived = [cancellation.derive(), cancellation.derive()] as const;
    derived[1].add(ofDerived);
    derived[0].expire();
    expect([derived[0].isCancelled, derived[1].isCancelled, cancellation.isCancelled, of.reasons]).toEqual([true, false, false, []]);
    cancellation.cancel();
    expect(ofDerived.reasons).toEqual([cancellation.reason]);
  });
});
