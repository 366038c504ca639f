/** Makes one function of the hooks of all extensions for each stage; undefined for a stage without a hook, which then costs nothing. */
import { type Fault, fail, toFault } from '@trestle/schema/errors';
import type { Log } from '@trestle/log';
import type { Measure } from '../request/context.ts';
import type { ExtendedRequest } from '../request/extended-request.ts';
import { GuardedEvent } from './events.ts';
import type { Extension } from './extension.ts';

/** A hook that refuses by throwing or rejecting. */
type RefusingHook = 'onRequest' | 'onContext' | 'onOperation' | 'onPlan' | 'onSubscribe' | 'onSubgraphRequest' | 'onResponse';
type ObservingHook = 'onSubgraphResponse' | 'onEvent';
type EventOf<Name extends keyof Extension> = Extension[Name] extends ((event: infer Event) => unknown) | undefined ? Event : never;

/**
 * Calls the hook of each extension in order, and then `done` once, with the fault of the first that refused. Calls back at once unless a hook returns
 * a promise. `done` must not throw.
 */
export type RunHook<Event> = (event: Event, done: (fault: Fault | undefined) => void) => void;

/** The compiled hooks. */
export type Hooks = { readonly [Name in RefusingHook]: RunHook<EventOf<Name>> | undefined } & {
  readonly [Name in ObservingHook]: ((event: EventOf<Name>) => void) | undefined;
} & {
  /** False without extensions. */
  readonly areUsed: boolean;
  readonly stop: () => Promise<void>;
};

export const NO_HOOKS: Hooks = {
  onRequest: undefined,
  onContext: undefined,
  onOperation: undefined,
  onPlan: undefined,
  onSubscribe: undefined,
  onSubgraphRequest: undefined,
  onSubgraphResponse: undefined,
  onResponse: undefined,
  onEvent: undefined,
  areUsed: false,
  stop: () => Promise.resolve(),
};

export interface HookOptions {
  /** The time limit of a promise that a hook returns. */
  readonly timeoutMs: number;
  /** Returns the limits of an extension that has its own, by the name of the hook. */
  readonly limitsOf?: (extension: Extension) => ReadonlyMap<string, number> | undefined;
  readonly measure: Measure;
  readonly log: Log;
  /** Counts a hook that failed: what it threw was no refusal, or it took too long. */
  readonly countFailure: (extension: string, hook: string) => void;
}

/** Returns the hooks of extensions, which are called in this order. */
export function compileHooks(extensions: readonly Extension[], options: HookOptions): Hooks {
  if (extensions.length === 0) return NO_HOOKS;
  const toRefusing = <Name extends RefusingHook>(name: Name) =>
    compileRefusing(collect<EventOf<Name>>(extensions, name, options), { ...options, hook: name });
  const toObserving = <Name extends ObservingHook>(name: Name) =>
    compileObserving(collect<EventOf<Name>>(extensions, name, options), { ...options, hook: name });
  return {
    areUsed: true,
    onRequest: toRefusing('onRequest'),
    onContext: toRefusing('onContext'),
    onOperation: toRefusing('onOperation'),
    onPlan: toRefusing('onPlan'),
    onSubscribe: toRefusing('onSubscribe'),
    onSubgraphRequest: toRefusing('onSubgraphRequest'),
    onSubgraphResponse: toObserving('onSubgraphResponse'),
    onResponse: toRefusing('onResponse'),
    onEvent: toObserving('onEvent'),
    stop: () => stopAll(extensions, options),
  };
}

interface OwnHook<Event> {
  readonly extension: string;
  readonly call: (event: Event) => unknown;
  readonly timeoutMs: number;
}

interface NamedHookOptions extends HookOptions {
  readonly hook: string;
}

function collect<Event>(extensions: readonly Extension[], name: RefusingHook | ObservingHook, options: HookOptions): OwnHook<Event>[] {
  return extensions.flatMap((extension) => {
    const call = extension[name] as OwnHook<Event>['call'] | undefined;
    const timeoutMs = options.limitsOf?.(extension)?.get(name) ?? options.timeoutMs;
    return call ? [{ extension: extension.name, call: call.bind(extension), timeoutMs }] : [];
  });
}

function compileRefusing<Event>(hooks: readonly OwnHook<Event>[], options: NamedHookOptions): RunHook<Event> | undefined {
  if (hooks.length === 0) return undefined;
  const { measure } = options;
  const runFrom = (first: number, event: Event, done: (fault: Fault | undefined) => void): void => {
    for (let i = first; i < hooks.length; i++) {
      const hook = hooks[i] as OwnHook<Event>;
      const refuse = (error: unknown) => {
        done(toRefusal(error, { extension: hook.extension, event }, options));
      };
      let returned: unknown;
      try {
        returned = hook.call(event);
      } catch (error) {
        refuse(GuardedEvent.refusalOf(event) ?? error);
        return;
      }
      const caught = GuardedEvent.refusalOf(event);
      if (caught) {
        if (isThenable(returned)) returned.then(undefined, () => undefined);
        refuse(caught);
        return;
      }
      if (!isThenable(returned)) continue;
      const resume = (proceed: () => void) => {
        measure(requestOf(event)?.client, proceed);
      };
      within(returned, hook.timeoutMs).then(
        () => {
          resume(() => {
            const caughtLater = GuardedEvent.refusalOf(event);
            if (caughtLater) refuse(caughtLater);
            else runFrom(i + 1, event, done);
          });
        },
        (error: unknown) => {
          resume(() => {
            refuse(GuardedEvent.refusalOf(event) ?? error);
          });
        },
      );
      return;
    }
    done(undefined);
  };
  return (event, done) => {
    runFrom(0, event, done);
  };
}

function compileObserving<Event>(hooks: readonly OwnHook<Event>[], options: NamedHookOptions): ((event: Event) => void) | undefined {
  if (hooks.length === 0) return undefined;
  return (event) => {
    for (const { extension, call } of hooks)
      try {
        const returned = call(event);
        // Nobody waits, but a rejection must not end the process.
        if (isThenable(returned))
          returned.then(undefined, (error: unknown) => {
            report(error, { extension, event }, options);
          });
      } catch (error) {
        report(error, { extension, event }, options);
      }
  };
}

async function stopAll(extensions: readonly Extension[], options: HookOptions): Promise<void> {
  const stops = extensions.map(async (extension) => {
    try {
      const stopped = extension.onStop?.();
      if (stopped) await within(stopped, options.timeoutMs);
    } catch (error) {
      report(error, { extension: extension.name, event: undefined }, { ...options, hook: 'onStop' });
    }
  });
  await Promise.all(stops);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** The call of a hook that failed; `event` is undefined at the end of the process. */
interface FailedCall {
  readonly extension: string;
  readonly event: unknown;
}

/** A hook could not do its work in time, or what it depends on does not answer. */
export class HookUnavailable extends Error {}

function within(returned: PromiseLike<unknown>, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new HookUnavailable(`took longer than ${String(timeoutMs)} ms`));
    }, timeoutMs);
    returned.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

/** Returns the fault for the client: a refusal as it is, SERVICE_UNAVAILABLE after the time limit, otherwise INTERNAL_ERROR. */
function toRefusal(error: unknown, failed: FailedCall, options: NamedHookOptions): Fault {
  const fault = toFault(error);
  if (fault === error) return fault;
  report(error, failed, options);
  return error instanceof HookUnavailable
    ? fail('SERVICE_UNAVAILABLE', 'A part of the server did not respond in time. Retry later.')
    : fault;
}

function report(error: unknown, { extension, event }: FailedCall, { hook, log, countFailure }: NamedHookOptions): void {
  countFailure(extension, hook);
  const requestId = requestOf(event)?.id;
  log.error('a hook of an extension failed', { ...(requestId !== undefined && { requestId }), extension, hook, error });
}

/** Undefined for what belongs to no single request, such as an event that subscribers of several callers share. */
function requestOf(event: unknown): ExtendedRequest | undefined {
  return (event as { readonly request?: ExtendedRequest } | undefined)?.request;
}
