/** The options of a check that say how recorded requests decide, and what operations may cost. */
import { DEFAULT_POLICY, type UsagePolicy } from '@trestle/graph-checks/policy';
import type { Given, Options } from '../command.ts';
import { usageError } from '../exit-codes.ts';

/** The options, for `parseArgs`. */
export const POLICY_OPTIONS = {
  days: { type: 'string' },
  'minimum-count': { type: 'string' },
  'minimum-percent': { type: 'string' },
  'enough-days': { type: 'string' },
  'enough-requests': { type: 'string' },
  'max-cost': { type: 'string' },
  'assumed-list-size': { type: 'string' },
  'exclude-client': { type: 'string', multiple: true },
  'exclude-operation': { type: 'string', multiple: true },
  'ignore-anonymous': { type: 'boolean' },
  inputs: { type: 'string' },
  additions: { type: 'string' },
  dangerous: { type: 'string' },
} as const satisfies Options;

/** What the user has set of a policy; the rest is the default. `days` is how many days the registry looks at. */
export type GivenPolicy = Partial<UsagePolicy> & { readonly days?: number };

/** Reads the options. Throws a CommandError for a value that is not possible. */
export function readPolicyOptions(given: Pick<Given, 'text' | 'list' | 'isSet'>): GivenPolicy {
  const number = (option: string) => {
    const text = given.text(option);
    if (text === undefined) return undefined;
    if (!/^\d+(?:\.\d+)?$/u.test(text)) throw usageError(`--${option} must be a number, not "${text}".`);
    return Number(text);
  };
  const choice = <Choice extends string>(option: string, choices: readonly Choice[]) => {
    const text = given.text(option);
    const found = choices.find((each) => each === text);
    if (text !== undefined && found === undefined) throw usageError(`--${option} must be one of ${choices.join(', ')}, not "${text}".`);
    return found;
  };
  const list = (option: string) => (given.list(option).length > 0 ? given.list(option) : undefined);
  const read = {
    ...{ days: number('days'), minimumCount: number('minimum-count'), minimumPercent: number('minimum-percent') },
    ...{ enoughDays: number('enough-days'), enoughRequests: number('enough-requests'), maxCost: number('max-cost') },
    assumedListSize: number('assumed-list-size'),
    ...{ excludedClients: list('exclude-client'), excludedOperations: list('exclude-operation') },
    anonymousClients: given.isSet('ignore-anonymous') ? 'ignore' : undefined,
    inputs: choice('inputs', ['usage', 'always']),
    additions: choice('additions', ['ignore', 'warn', 'fail']),
    dangerous: choice('dangerous', ['ignore', 'warn', 'fail']),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

/** Returns the policy as an input of the registry's API, whose enum values are in capitals. */
export function toPolicyInput(policy: GivenPolicy): object {
  return Object.fromEntries(Object.entries(policy).map(([name, value]) => [name, typeof value === 'string' ? value.toUpperCase() : value]));
}

/** Returns the whole policy, for a check without a registry. */
export function toPolicy(given: GivenPolicy): UsagePolicy {
  const { days, ...policy } = { days: undefined, ...DEFAULT_POLICY, ...given };
  if (days !== undefined) throw usageError('--days needs a registry: --operations has the days in the file.');
  return policy;
}
