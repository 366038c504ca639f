/** Source streams of a scripted subgraph, with fake timers. */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ConnectionLoss, SourceReceiver, SubscribeRequest } from '../upstream/subscriptions/subscription-upstream.ts';
import { SourceStream, type SourceStreamOptions } from './source-stream.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const LOSS: ConnectionLoss = { isUnauthorized: false, cause: new Error('connection lost') };

function open(options: Partial<SourceStreamOptions> = {}) {
  const requests: SubscribeRequest[] = [];
  const receivers: SourceReceiver[] = [];
  const received: unknown[] = [];
  const reached: string[] = [];
  let unsubscribed = 0;
  const source = new SourceStream(
    {
      upstream: {
        url: 'ws://nowhere/',
        subscribe: (request, receiver) => {
          requests.push(request);
          receivers.push(receiver);
          return () => unsubscribed++;
        },
      },
      identity: ['authorization', 'Bearer x'],
      requestId: 'r',
      payload: { query: 'subscription { a }', operationName: undefined, variables: {} },
      reconnectMs: 10_000,
      isPublic: false,
      now: () => Date.now(),
      random: () => 1,
      ...options,
    },
    {
      next: ({ data }) => received.push(data),
      reached: (position, isKnown) => {
        if (!isKnown) reached.push(position);
      },
      pageEnded: () => received.push('page ended'),
      complete: () => received.push('complete'),
      refused: (errors) => received.push({ errors }),
      lost: () => received.push('lost'),
    },
  );
  return {
    source,
    requests,
    received,
    reached,
    receiver: () => {
      const last = receivers.at(-1) as SourceReceiver;
      const next = (result: Parameters<SourceReceiver['next']>[0]) => {
        last.next(result, 0);
      };
      return { ...last, next };
    },
    unsubscribed: () => unsubscribed,
    resume: () => requests.at(-1)?.payload.extensions['resume'],
  };
}
const at = (position: number, n?: number) => ({ data: n === undefined ? null : { n }, extensions: { position: String(position) } });

describe('SourceStream', () => {
  it('delivers events, and not the message with the first position', () => {
    const { receiver, received, resume } = open();
    expect(resume()).toEqual({});
    receiver().next(at(5));
    receiver().next(at(6, 1));
    receiver().next({ data: { n: 2 } });
    expect(received).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it.each([{}, 'text', 1])('is refused with one error for errors that are no list: %j', (errors) => {
    const { receiver, received } = open();
    receiver().next({ errors: errors as unknown as [] });
    expect(received).toEqual([{ errors: [errors] }]);
  });

  it('is refused with one error for an empty list of errors', () => {
    const { receiver, received } = open();
    receiver().next({ errors: [] });
    expect(received).toEqual([{ errors: [undefined] }]);
  });

  it('is not retried when the same would be lost again', () => {
    const { receiver, received, requests } = open();
    receiver().next(at(5, 1));
    receiver().lost({ ...LOSS, isFinal: true });
    jest.advanceTimersByTime(60_000);
    expect([received, requests.length]).toEqual([[{ n: 1 }, 'lost'], 1]);
  });

  it('is lost when its subgraph cannot be subscribed to', () => {
    const subscribe = () => {
      throw new Error('no address');
    };
    expect(open({ upstream: { url: 'ws://nowhere/', subscribe } }).received).toEqual(['lost']);
  });

  it('is lost at once without positions', () => {
    const { receiver, received, requests } = open();
    receiver().next({ data: { n: 1 } });
    receiver().lost(LOSS);
    jest.runAllTimers();
    expect(received).toEqual([{ n: 1 }, 'lost']);
    expect(requests.length).toBe(1);
  });

  it('retries after the last position with exponential backoff, until the time is up', () => {
    const { receiver, received, requests, resume } = open();
    receiver().next(at(5));
    const waits: number[] = [];
    for (let last = Date.now(); !received.includes('lost'); last = Date.now()) {
      receiver().lost(LOSS);
      jest.advanceTimersToNextTimer();
      waits.push(Date.now() - last);
    }
    expect(waits.slice(0, 8)).toEqual([50, 100, 200, 400, 800, 1600, 2000, 2000]);
    expect(resume()).toEqual({ after: '5', first: 200 });
    expect(requests.length).toBeGreaterThan(8);
  });

  it('has the whole time again after an event', () => {
    const { receiver, received } = open();
    receiver().next(at(1));
    for (let n = 2; n < 100; n++) {
      receiver().lost(LOSS);
      jest.advanceTimersByTime(5000);
      receiver().next(at(n, n));
    }
    expect(received).toEqual(Array.from({ length: 98 }, (_, n) => ({ n: n + 2 })));
  });

  it('has the whole time again after a stable connection, even without an event', () => {
    const { receiver, received } = open();
    receiver().next(at(1));
    for (let n = 0; n < 20; n++) {
      receiver().lost(LOSS);
      jest.advanceTimersByTime(100);
      receiver().next(at(1));
      jest.advanceTimersByTime(6000);
    }
    expect(received).toEqual([]);
  });

  it('continues after a position without an event, and reports each position once', () => {
    const { receiver, received, reached, resume } = open();
    receiver().next(at(1));
    receiver().lost(LOSS);
    jest.advanceTimersByTime(100);
    receiver().next(at(1));
    expect(reached).toEqual(['1']);
    jest.advanceTimersByTime(600_000);
    receiver().next(at(40));
    jest.advanceTimersByTime(100);
    receiver().lost(LOSS);
    jest.advanceTimersByTime(100);
    expect([received, reached, resume()]).toEqual([[], ['1', '40'], { after: '40', first: 200 }]);
  });

  it('is lost when the connection is repeatedly lost soon after it was restored', () => {
    const { receiver, received } = open();
    receiver().next(at(1));
    for (let n = 0; n < 20; n++) {
      receiver().lost(LOSS);
      jest.advanceTimersByTime(3000);
      receiver().next(at(1));
    }
    expect(received).toEqual(['lost']);
  });

  it('does not retry after the credential was rejected', () => {
    const { receiver, received, requests } = open();
    receiver().next(at(1));
    receiver().lost({ ...LOSS, isUnauthorized: true });
    jest.runAllTimers();
    expect([received, requests.length]).toEqual([['lost'], 1]);
  });

  it('retries a public stream after its subgraph has rejected it, since that concerns no credential of a caller', () => {
    const { receiver, received, resume } = open({ isPublic: true });
    receiver().next(at(1));
    receiver().lost({ ...LOSS, isUnauthorized: true });
    jest.runAllTimers();
    expect([received, resume()]).toEqual([[], { after: '1', first: 200 }]);
  });

  it('is lost when a subgraph sends no positions any more after a reconnect', () => {
    const { receiver, received, requests, unsubscribed } = open();
    receiver().next(at(1));
    receiver().next(at(2, 2));
    receiver().lost(LOSS);
    jest.runAllTimers();
    receiver().next({ data: { n: 4 } });
    receiver().next({ data: { n: 5 } });
    jest.runAllTimers();
    expect([received, requests.length, unsubscribed()]).toEqual([[{ n: 2 }, 'lost'], 2, 1]);
  });

  it('is refused with GONE when the subgraph ignores the position of the client, also after a loss', () => {
    const { receiver, received } = open({ after: '1' });
    receiver().lost(LOSS);
    jest.runAllTimers();
    receiver().next({ data: { n: 4 } });
    expect(received).toEqual([{ errors: [expect.objectContaining({ extensions: { code: 'GONE' } })] }]);
  });

  it('is retried at the address that it was moved to', () => {
    const { source, receiver, requests } = open();
    receiver().next(at(1));
    const moved: unknown[] = [];
    const subscribe = ({ payload }: SubscribeRequest) => {
      moved.push(payload.extensions['resume']);
      return () => undefined;
    };
    source.move({ url: 'ws://elsewhere/', subscribe });
    receiver().lost(LOSS);
    jest.runAllTimers();
    expect([requests.length, moved]).toEqual([1, [{ after: '1', first: 200 }]]);
  });

  it('retries after a temporary refusal', () => {
    const { receiver, received, resume } = open();
    receiver().next(at(5));
    receiver().refused([{ message: 'Going down', extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
    jest.runAllTimers();
    receiver().next(at(6, 6));
    expect([resume(), received]).toEqual([{ after: '5', first: 200 }, [{ n: 6 }]]);
  });

  it('can be paused with positions, and continues after the last event', () => {
    const { source, receiver, received, requests, resume, unsubscribed } = open();
    receiver().next({ data: { n: 1 } });
    expect(source.pause()).toBe(false);
    receiver().next(at(5));
    receiver().next(at(6, 2));
    expect(source.pause()).toBe(true);
    const paused = receiver();
    paused.next(at(7, 3));
    paused.lost(LOSS);
    jest.advanceTimersByTime(60_000);
    expect([requests.length, unsubscribed()]).toEqual([1, 1]);
    source.resume();
    expect(resume()).toEqual({ after: '6', first: 200 });
    receiver().next(at(7, 3));
    expect(received).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    source.resume();
    expect(requests.length).toBe(2);
  });

  it('requests missed events a page at a time, and the next page on resume', () => {
    const { source, receiver, received, requests, resume } = open();
    receiver().next(at(1));
    receiver().lost(LOSS);
    jest.advanceTimersByTime(50);
    receiver().next(at(1));
    for (let n = 2; n <= 201; n++) receiver().next(at(n, n));
    receiver().complete();
    expect([received.at(-1), requests.length]).toEqual(['page ended', 2]);
    source.resume();
    expect(resume()).toEqual({ after: '201', first: 200 });
    receiver().next(at(202, 202));
    // A stream that completes before the end of a page has ended.
    receiver().complete();
    expect(received.slice(-3)).toEqual(['page ended', { n: 202 }, 'complete']);
  });

  it('refuses for an error, and for a result without data', () => {
    const errors = [{ message: 'no' }];
    const one = open();
    one.receiver().refused(errors);
    const two = open();
    two.receiver().next({ errors });
    for (const { received } of [one, two]) expect(received).toEqual([{ errors }]);
    expect(two.unsubscribed()).toBe(1);
  });

  it('calls nothing after its end or after close, not even while a retry is scheduled', () => {
    const ended = open();
    ended.receiver().complete();
    ended.receiver().next(at(1, 1));
    expect(ended.received).toEqual(['complete']);
    const closed = open();
    closed.receiver().next(at(1));
    closed.receiver().lost(LOSS);
    closed.source.close();
    jest.runAllTimers();
    expect([closed.received, closed.requests.length]).toEqual([[], 1]);
  });
});
