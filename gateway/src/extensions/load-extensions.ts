/** Loads the extensions of a graph: the module that EXTENSIONS_FILE names, and the coprocessor. */
import type { Log } from '@trestle/log';
import { Counter, type Registry } from 'prom-client';
import { suggest } from '@trestle/env/suggest';
import { importDefault } from '../modules/import-module.ts';
import type { Measure } from '../request/context.ts';
import { type Hooks, NO_HOOKS, compileHooks } from './compile-hooks.ts';
import type { CoprocessorSettings } from './coprocessor-settings.ts';
import type { Extension } from './extension.ts';

export interface ExtensionSettings {
  /** A module; undefined for none. */
  readonly file: string | undefined;
  /** Undefined for none. */
  readonly coprocessor: CoprocessorSettings | undefined;
  readonly timeoutMs: number;
}

const NAME = /^[\w-]{1,64}$/;
const MAX_EXTENSIONS = 100;
/** A call of the coprocessor ends at its own time limit; its hook ends it only when that fails. */
const GRACE_MS = 1000;
/** A module may connect to another server while it loads. */
const MAX_LOAD_MS = 10_000;
/** Every key of an extension that the gateway reads, so that a hook with a misspelled name is noticed. */
const HOOKS: ReadonlySet<string> = new Set<keyof Extension>([
  ...(['onRequest', 'onContext', 'onOperation', 'onPlan', 'onSubscribe', 'onSubgraphRequest', 'onSubgraphResponse'] as const),
  ...(['onResponse', 'onEvent', 'onStop'] as const),
]);

/** Loads and compiles the extensions. Rejects with the reason when one cannot be loaded. */
export async function loadHooks(
  { file, coprocessor, timeoutMs }: ExtensionSettings,
  { measure, log, metrics }: { readonly measure: Measure; readonly log: Log; readonly metrics: Registry },
): Promise<Hooks> {
  if (file === undefined && !coprocessor) return NO_HOOKS;
  const extensions = file === undefined ? [] : await loadModule(file);
  const failures = new Counter({
    name: 'trestle_extension_failures_total',
    help: 'Hooks of extensions that threw something other than a refusal, or took too long.',
    labelNames: ['extension', 'hook'],
    registers: [metrics],
  });
  const countFailure = (extension: string, hook: string) => {
    failures.inc({ extension, hook });
  };
  const options = { timeoutMs, measure, log, countFailure };
  if (!coprocessor) return compileHooks(extensions, options);
  const { createCoprocessor } = await import('./coprocessor.ts');
  const calling = createCoprocessor(coprocessor, (hook, error, request) => {
    countFailure(calling.name, hook);
    log.warn('the coprocessor failed, and the request goes on', {
      ...(request && { requestId: request.id }),
      ...{ extension: calling.name, hook, error },
    });
  });
  const limits = new Map(coprocessor.stages.map((each) => [each.stage as string, each.timeoutMs + GRACE_MS]));
  return compileHooks([...extensions, calling], { ...options, limitsOf: (extension) => (extension === calling ? limits : undefined) });
}

/** Returns the extensions of a module. Rejects with an Error that names the file. */
export async function loadModule(file: string): Promise<Extension[]> {
  try {
    const value = await within(loadDefault(file), MAX_LOAD_MS);
    const extensions = Array.isArray(value) ? (value as unknown[]) : [value];
    if (extensions.length > MAX_EXTENSIONS) throw new Error(`must export at most ${String(MAX_EXTENSIONS)} extensions`);
    return extensions.map(checkExtension);
  } catch (error) {
    throw new Error(`EXTENSIONS_FILE: ${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** A function that a module exports makes the extensions. */
async function loadDefault(file: string): Promise<unknown> {
  const exported = await importDefault(file);
  return typeof exported === 'function' ? await (exported as () => unknown)() : exported;
}

/** The timer also keeps the process running: Node.js would end it without a message when nothing else is to come. */
function within(loading: Promise<unknown>, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`has not loaded within ${String(timeoutMs / 1000)} s: a promise that it waits for does not settle`));
    }, timeoutMs);
    const stop = () => {
      clearTimeout(timer);
    };
    loading.finally(stop).then(resolve, reject);
  });
}

function checkExtension(value: unknown): Extension {
  if (typeof value !== 'object' || value === null) throw new Error('must have extensions as its default export');
  const { name } = value as { name?: unknown };
  if (typeof name !== 'string' || !NAME.test(name)) throw new Error('each extension must have a name of 1 to 64 letters, digits, - and _');
  const extension = value as Extension & Record<string, unknown>;
  for (const key of listKeys(value)) {
    if (HOOKS.has(key)) {
      const hook = extension[key];
      if (typeof hook !== 'function' && hook !== undefined) throw new Error(`${name}.${key} must be a function`);
      continue;
    }
    const similar = suggest(key, HOOKS);
    if (/^on[A-Z]/.test(key) || (/^on/i.test(key) && similar !== ''))
      throw new Error(`${name}.${key} is no hook; there are ${[...HOOKS].join(', ')}${similar}`);
  }
  if (![...HOOKS].some((hook) => extension[hook] !== undefined)) throw new Error(`${name} has no hook; there are ${[...HOOKS].join(', ')}`);
  return extension;
}

/** Returns the keys of an object and of its classes. */
function listKeys(value: object | null): string[] {
  if (value === null || value === Object.prototype) return [];
  return [...Object.getOwnPropertyNames(value), ...listKeys(Object.getPrototypeOf(value) as object | null)];
}
