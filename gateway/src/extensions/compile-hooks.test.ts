import { describe, expect, it } from '@jest/globals';
import { fail } from '@trestle/schema/errors';
import type { Log } from '@trestle/log';
import { NOT_MEASURED } from '../request/context.ts';
import { ExtendedRequest } from '../request/extended-request.ts';
import { HookUnavailable, NO_HOOKS, compileHooks } from './compile-hooks.ts';
import { toRequestEvent } from './events.ts';
import type { Extension, OperationEvent } from './extension.ts';

interface Failure {
  readonly extension: string;
  readonly hook: string;
}

/** Compiles hooks, and keeps their failures and the lines of the log. */
function compile(extensions: readonly Extension[], timeoutMs = 1000) {
  const failures: Failure[] = [];
  const lines: unknown[] = [];
  const log = { error: (message: string, fields: unknown) => lines.push([message, fields]) } as unknown as Log;
  const countFailure = (extension: string, hook: string) => failures.push({ extension, hook });
  return { hooks: compileHooks(extensions, { timeoutMs, measure: NOT_MEASURED, log, countFailure }), failures, lines };
}

const EVENT = {} as OperationEvent;
const REQUEST = new ExtendedRequest({
  ...{ id: 'r', transport: 'http', method: 'POST', url: '/graphql', headers: {}, client: undefined },
  setResponseHeader: () => undefined,
});

/** Returns what `onOperation` calls back with. */
const run = (extensions: readonly Extension[], timeoutMs?: number) => {
  const { hooks, failures } = compile(extensions, timeoutMs);
  return new Promise<{ code: string | undefined; failures: Failure[] }>((resolve) => {
    hooks.onOperation?.(EVENT, (fault) => {
      resolve({ code: fault?.code, failures });
    });
  });
};

/** JavaScript may reject with anything. */
async function rejectWithout(): Promise<void> {
  await Promise.resolve();
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- what code of others does
  throw undefined;
}

describe('compileHooks', () => {
  it('returns undefined for each stage without a hook', () => {
    const { hooks } = compile([{ name: 'a', onPlan: () => undefined }]);
    expect(hooks.onOperation).toBeUndefined();
    expect(hooks.onPlan).toBeDefined();
    expect(compile([]).hooks).toBe(NO_HOOKS);
  });

  it('calls the hooks of all extensions in order, and waits for promises', async () => {
    const calls: string[] = [];
    const add = (name: string, result?: Promise<void>): Extension => ({
      name,
      onOperation: () => {
        calls.push(name);
        return result;
      },
    });
    const late = Promise.resolve().then(() => {
      calls.push('late');
    });
    expect((await run([add('a'), add('b', late), add('c')])).code).toBeUndefined();
    expect(calls).toEqual(['a', 'b', 'late', 'c']);
  });

  it('calls back at once when no hook returns a promise', () => {
    const { hooks } = compile([{ name: 'a', onOperation: () => undefined }]);
    let isDone = false;
    hooks.onOperation?.(EVENT, () => {
      isDone = true;
    });
    expect(isDone).toBe(true);
  });

  it('calls no hook after one that refused', async () => {
    let isCalled = false;
    const refusing = { name: 'a', onOperation: () => Promise.reject(fail('FORBIDDEN', 'No.')) };
    const next = { name: 'b', onOperation: () => void (isCalled = true) };
    expect(await run([refusing, next])).toEqual({ code: 'FORBIDDEN', failures: [] });
    expect(isCalled).toBe(false);
  });

  const refused = (hook: NonNullable<Extension['onRequest']>) =>
    new Promise((resolve) => {
      const { hooks, failures } = compile([{ name: 'a', onRequest: hook }]);
      hooks.onRequest?.(toRequestEvent(REQUEST), (fault) => {
        resolve([fault?.code, failures.length]);
      });
    });
  const tryTo = (act: () => void) => {
    try {
      act();
    } catch {
      // What hooks do that log errors.
    }
  };

  it('refuses when a hook catches what refuse has thrown', async () => {
    const direct: Extension['onRequest'] = ({ refuse }) => {
      tryTo(() => refuse('FORBIDDEN', 'No.'));
    };
    expect(await refused(direct)).toEqual(['FORBIDDEN', 0]);
    const later: Extension['onRequest'] = async (event) => {
      await Promise.resolve();
      void direct(event);
    };
    expect(await refused(later)).toEqual(['FORBIDDEN', 0]);
    const unknown: Extension['onRequest'] = ({ refuse }) => {
      tryTo(() => refuse('TEAPOT', 'No.'));
    };
    expect(await refused(unknown)).toEqual(['INTERNAL_ERROR', 1]);
  });

  const failing: readonly [string, () => unknown, string][] = [
    [
      'throws',
      () => {
        throw new Error('x');
      },
      'INTERNAL_ERROR',
    ],
    ['rejects with no error', rejectWithout, 'INTERNAL_ERROR'],
    ['takes too long', () => new Promise(() => undefined), 'SERVICE_UNAVAILABLE'],
    ['depends on what does not answer', () => Promise.reject(new HookUnavailable('x')), 'SERVICE_UNAVAILABLE'],
  ];
  it.each(failing)('counts a hook that %s', async (_, hook, code) => {
    const failures = [{ extension: 'a', hook: 'onOperation' }];
    expect(await run([{ name: 'a', onOperation: hook as NonNullable<Extension['onOperation']> }], 20)).toEqual({ code, failures });
  });

  it('logs a failure under the id of its request, also of an observing hook', async () => {
    const error = new Error('broken');
    const broken = () => {
      throw error;
    };
    const { hooks, lines } = compile([{ name: 'a', onOperation: () => Promise.reject(error), onSubgraphResponse: broken }]);
    const event = { request: { id: 'r1' } } as never;
    await new Promise<unknown>((resolve) => {
      hooks.onOperation?.(event, resolve);
    });
    hooks.onSubgraphResponse?.(event);
    expect(lines).toEqual(
      ['onOperation', 'onSubgraphResponse'].map((hook) => [
        'a hook of an extension failed',
        { requestId: 'r1', extension: 'a', hook, error },
      ]),
    );
  });

  it('logs what an observing hook throws or rejects with, and calls the next', async () => {
    const { hooks, failures, lines } = compile([
      { name: 'a', onEvent: () => Promise.reject(new Error('x')) as unknown as undefined },
      {
        name: 'b',
        onEvent: () => {
          throw new Error('y');
        },
      },
    ]);
    hooks.onEvent?.({ operationName: undefined, subscribers: 1, readBody: () => '' });
    await Promise.resolve().then(() => undefined);
    expect(failures.map(({ extension }) => extension)).toEqual(['b', 'a']);
    expect(lines).toHaveLength(2);
  });

  it('stops all extensions, also when one fails or hangs', async () => {
    const stopped: string[] = [];
    const { hooks, failures } = compile(
      [
        { name: 'a', onStop: () => Promise.reject(new Error('x')) },
        { name: 'b', onStop: () => new Promise(() => undefined) },
        { name: 'c', onStop: () => void stopped.push('c') },
      ],
      20,
    );
    await hooks.stop();
    expect(stopped).toEqual(['c']);
    expect(failures.map(({ extension }) => extension)).toEqual(['a', 'b']);
  });
});
