/** The flags of `npm run attack`. */
import { parseArgs } from 'node:util';
import { FAMILIES } from './attack.ts';
import { SERVICES, type ServiceName } from './target/system.ts';

export interface Options {
  /** Addresses of a system that runs already; undefined to start one. */
  readonly urls: Readonly<Record<ServiceName, string>> | undefined;
  /** Runs what is marked for CI only, with fewer requests. */
  readonly isShort: boolean;
  /** Runs attacks whose name or family contains this. */
  readonly only: string;
  readonly seed: string;
  /** Prints outcomes as JSON instead of a table. */
  readonly isJson: boolean;
  /** Keeps the default rate limits, and runs the loads only: other attacks look at single responses, and would see 429. */
  readonly hasDefaultLimits: boolean;
  /** Settings of the system that it starts, by the names of their environment variables. */
  readonly settings: Readonly<Record<string, string>>;
}

export const USAGE = `npm run attack -- [--short] [--only <text>] [--seed <text>] [--json] [--limits default] [--set <name>=<value> …]
  [--rest-bridge <url> --gateway <url> --users <url> --orders <url> --content <url>]

Attacks a system that it starts for itself, or one at these addresses, which must be of this machine.
The rate limits are raised, so that they hide nothing; with --limits default they are not, and the loads run.
--set gives the system that it starts a setting, such as REQUEST_READER=node.
Families: ${FAMILIES.join(', ')}.`;

/** Throws when a flag is unknown, or some of the addresses are missing. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      seed: { type: 'string', default: 'trestle' },
      limits: { type: 'string', default: 'raised' },
      set: { type: 'string', multiple: true, default: [] },
      'rest-bridge': { type: 'string' },
      gateway: { type: 'string' },
      users: { type: 'string' },
      orders: { type: 'string' },
      content: { type: 'string' },
    },
  });
  if (values.limits !== 'raised' && values.limits !== 'default') throw new Error('--limits must be raised or default');
  const given = SERVICES.filter((name) => values[name] !== undefined);
  if (given.length > 0 && given.length < SERVICES.length)
    throw new Error(
      `Name the addresses of all processes or of none: ${SERVICES.filter((name) => !given.includes(name)).join(', ')} missing`,
    );
  const urls =
    given.length === 0
      ? undefined
      : (Object.fromEntries(SERVICES.map((name) => [name, values[name] ?? ''])) as Record<ServiceName, string>);
  return {
    urls,
    isShort: values.short,
    only: values.only,
    seed: values.seed,
    isJson: values.json,
    hasDefaultLimits: values.limits === 'default',
    settings: Object.fromEntries(values.set.map(readSetting)),
  };
}

function readSetting(text: string): [name: string, value: string] {
  const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new Error(`--set must be <name>=<value>: ${text}`);
  return [name, value];
}
