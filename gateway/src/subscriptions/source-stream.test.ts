/** Sources with a subgraph of which the test says every word, and a clock of its own. */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LiveSink, Loss } from '../upstream/subgraph-socket.ts';
import type { LiveRequest } from '../upstream/subgraph-sockets.ts';
import { openSource } from './source-stream.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const LOSS: Loss = { isUnauthorized: false, cause: new Error('gone') };

function open() {
  const asked: LiveRequest[] = [];
  const sinks: LiveSink[] = [];
  const told: unknown[] = [];
  const reached: string[] = [];
  let unsubscribed = 0;
  const source = openSource(
    {
      live: {
        url: 'ws://nowhere/',
        subscribe: (request, sink) => {
          asked.push(request);
          sinks.push(sink);
          return () => unsubscribed++;
        },
      },
      identity: ['authorization', 'Bearer x'],
      requestId: 'r',
      payload: { query: 'subscription { a }', operationName: undefined, variables: {} },
      reconnectMs: 10_000,
      now: () => Date.now(),
      random: () => 1,
    },
    {
      next: ({ data }) => told.push(data),
      reached: (position, isKnown) => {
        if (!isKnown) reached.push(position);
      },
      full: () => told.push('full'),
      complete: () => told.push('complete'),
      refused: (errors) => told.push({ errors }),
      lost: () => told.push('lost'),
    },
  );
  return {
    source,
    asked,
    told,
    reached,
    sink: () => sinks.at(-1) as LiveSink,
    unsubscribed: () => unsubscribed,
    resume: () => asked.at(-1)?.payload.extensions['resume'],
  };
}
const at = (position: number, n?: number) => ({ data: n === undefined ? null : { n }, extensions: { position: String(position) } });

describe('a source', () => {
  it('tells events, and keeps the word about its position to itself', () => {
    const { sink, told, resume } = open();
    expect(resume()).toEqual({});
    sink().next(at(5));
    sink().next(at(6, 1));
    sink().next({ data: { n: 2 } });
    expect(told).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('is lost at once when it tells no positions', () => {
    const { sink, told, asked } = open();
    sink().next({ data: { n: 1 } });
    sink().lost(LOSS);
    jest.runAllTimers();
    expect(told).toEqual([{ n: 1 }, 'lost']);
    expect(asked.length).toBe(1);
  });

  it('is asked for again after the position that it told last, ever more patiently, until the time is over', () => {
    const { sink, told, asked, resume } = open();
    sink().next(at(5));
    const waits: number[] = [];
    for (let last = Date.now(); !told.includes('lost'); last = Date.now()) {
      sink().lost(LOSS);
      jest.advanceTimersToNextTimer();
      waits.push(Date.now() - last);
    }
    expect(waits.slice(0, 8)).toEqual([50, 100, 200, 400, 800, 1600, 2000, 2000]);
    expect(resume()).toEqual({ after: '5', first: 200 });
    expect(asked.length).toBeGreaterThan(8);
  });

  it('has all its time again once it has told something', () => {
    const { sink, told } = open();
    sink().next(at(1));
    for (let n = 2; n < 100; n++) {
      sink().lost(LOSS);
      jest.advanceTimersByTime(5000);
      sink().next(at(n, n));
    }
    expect(told).toEqual(Array.from({ length: 98 }, (_, n) => ({ n: n + 2 })));
  });

  it('has all its time again once it was back for a while, even without a word', () => {
    const { sink, told } = open();
    sink().next(at(1));
    for (let n = 0; n < 20; n++) {
      sink().lost(LOSS);
      jest.advanceTimersByTime(100);
      sink().next(at(1));
      jest.advanceTimersByTime(6000);
    }
    expect(told).toEqual([]);
  });

  it('goes on from where it has come in silence, with all its time, and tells how far it has come once', () => {
    const { sink, told, reached, resume } = open();
    sink().next(at(1));
    sink().lost(LOSS);
    jest.advanceTimersByTime(100);
    sink().next(at(1));
    expect(reached).toEqual(['1']);
    jest.advanceTimersByTime(600_000);
    sink().next(at(40));
    jest.advanceTimersByTime(100);
    sink().lost(LOSS);
    jest.advanceTimersByTime(100);
    expect([told, reached, resume()]).toEqual([[], ['1', '40'], { after: '40', first: 200 }]);
  });

  it('is given up when it comes back and goes at once, again and again', () => {
    const { sink, told } = open();
    sink().next(at(1));
    for (let n = 0; n < 20; n++) {
      sink().lost(LOSS);
      jest.advanceTimersByTime(3000);
      sink().next(at(1));
    }
    expect(told).toEqual(['lost']);
  });

  it('is not asked for again by whom it does not want', () => {
    const { sink, told, asked } = open();
    sink().next(at(1));
    sink().lost({ ...LOSS, isUnauthorized: true });
    jest.runAllTimers();
    expect([told, asked.length]).toEqual([['lost'], 1]);
  });

  it('that can not go on for the moment is asked to later', () => {
    const { sink, told, resume } = open();
    sink().next(at(5));
    sink().refused([{ message: 'Going down', extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
    jest.runAllTimers();
    sink().next(at(6, 6));
    expect([resume(), told]).toEqual([{ after: '5', first: 200 }, [{ n: 6 }]]);
  });

  it('can be asked to wait, and goes on behind what it told last, if it tells positions', () => {
    const { source, sink, told, asked, resume, unsubscribed } = open();
    sink().next({ data: { n: 1 } });
    expect(source.pause()).toBe(false);
    sink().next(at(5));
    sink().next(at(6, 2));
    expect(source.pause()).toBe(true);
    const paused = sink();
    paused.next(at(7, 3));
    paused.lost(LOSS);
    jest.advanceTimersByTime(60_000);
    expect([asked.length, unsubscribed()]).toEqual([1, 1]);
    source.resume();
    expect(resume()).toEqual({ after: '6', first: 200 });
    sink().next(at(7, 3));
    expect(told).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    source.resume();
    expect(asked.length).toBe(2);
  });

  it('is asked for what was missed a page at a time, and for the next when that is wanted', () => {
    const { source, sink, told, asked, resume } = open();
    sink().next(at(1));
    sink().lost(LOSS);
    jest.advanceTimersByTime(50);
    sink().next(at(1));
    for (let n = 2; n <= 201; n++) sink().next(at(n, n));
    sink().complete();
    expect([told.at(-1), asked.length]).toEqual(['full', 2]);
    source.resume();
    expect(resume()).toEqual({ after: '201', first: 200 });
    sink().next(at(202, 202));
    // One that completes before is at its end.
    sink().complete();
    expect(told.slice(-3)).toEqual(['full', { n: 202 }, 'complete']);
  });

  it('refuses by an error, or by an answer without data', () => {
    const errors = [{ message: 'no' }];
    const one = open();
    one.sink().refused(errors);
    const two = open();
    two.sink().next({ errors });
    for (const { told } of [one, two]) expect(told).toEqual([{ errors }]);
    expect(two.unsubscribed()).toBe(1);
  });

  it('tells nothing after its end, and nothing once it is closed, not even while it waits', () => {
    const ended = open();
    ended.sink().complete();
    ended.sink().next(at(1, 1));
    expect(ended.told).toEqual(['complete']);
    const closed = open();
    closed.sink().next(at(1));
    closed.sink().lost(LOSS);
    closed.source.close();
    jest.runAllTimers();
    expect([closed.told, closed.asked.length]).toEqual([[], 1]);
  });
});
