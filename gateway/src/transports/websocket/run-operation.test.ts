/** With a real admission, whose releases are counted. */
import type { IncomingMessage } from 'node:http';
import { afterEach, expect, it } from '@jest/globals';
import { UNCOUNTED } from '@trestle/limits/quota';
import { type Admission, createAdmission } from '@trestle/service/admission/admission';
import { Registry } from 'prom-client';
import { createRequestMetrics } from '../../observability/request-metrics.ts';
import type { OperationResult } from '../../request/operation.ts';
import { SocketOperation, type Channel } from './socket-operation.ts';
import { type SocketRunOptions, createSocketRun } from './run-operation.ts';

const ignore = () => undefined;
const RESULT = { outcome: 'complete', bytes: Buffer.from('{}'), length: 2 } as unknown as OperationResult;

let admission: Admission;
afterEach(() => {
  admission.close();
});

/** Runs one operation. `finish` gives it its result; `released` is how often its slot was released. */
function run(others: readonly string[]) {
  admission = createAdmission();
  for (const other of others) admission.isShared(other);
  let released = 0;
  const counted: Pick<Admission, 'enter' | 'leave' | 'measure' | 'hasSeveralClients'> = {
    enter: ({ begin, ...task }) =>
      admission.enter({
        ...task,
        begin: (slot) => {
          begin({
            release: () => {
              released++;
              slot.release();
            },
          });
        },
      }),
    leave: (task) => {
      admission.leave(task);
    },
    measure: (client, act) => {
      admission.measure(client, act);
    },
    hasSeveralClients: () => admission.hasSeveralClients(),
  };
  let finish: (result: OperationResult) => void = ignore;
  const options = {
    ...{ path: '/graphql', log: { access: ignore }, requests: createRequestMetrics(new Registry()), admission: counted },
    ...{ tracing: { begin: ignore }, recordHeaders: ignore, rateLimits: { open: () => UNCOUNTED }, hooks: { areUsed: false } },
    run: (_: unknown, done: (result: OperationResult) => void) => {
      finish = done;
    },
  };
  const operation = new SocketOperation('1', { queue: { send: ignore }, remove: ignore } as unknown as Channel);
  const request = { headers: {}, rawHeaders: [] } as unknown as IncomingMessage;
  const identity = { caller: null, identity: [] };
  createSocketRun(options as unknown as SocketRunOptions)(operation, { payload: { query: '{ a }' }, identity, request });
  return {
    operation,
    finish: () => {
      finish(RESULT);
    },
    released: () => released,
  };
}

it('counts an operation that its client stops as in flight, since its work goes on, and one with a result no longer', () => {
  const stopped = run(['a', 'b']);
  stopped.operation.stop('stopped');
  expect(stopped.released()).toBe(0);
  admission.close();
  const finished = run(['a', 'b']);
  finished.finish();
  expect(finished.released()).toBe(1);
});

it('releases an operation that is stopped while there is one client, because nothing would do so later', () => {
  const { operation, released } = run([]);
  operation.stop('stopped');
  expect(released()).toBe(1);
});
