/** Reads one rule for headers out of the keys and strings of a configuration file. */
import { mayForward, mayRead, mayRemove, mayReturn } from '../../headers/header-names.ts';
import { readHeaderPattern } from '../../headers/header-patterns.ts';
import type { HeaderRule } from '../../headers/header-rules.ts';
import { type HeaderUse, describeHeaderFault } from './describe-header-fault.ts';
import { isHeaderValue } from '../../headers/header-values.ts';

/** Whether a rule is for requests to subgraphs or for their responses. */
export type Direction = 'request' | 'response';

/** The keys of a rule. The first three name what it does. */
export const RULE_KEYS = ['propagate', 'insert', 'remove', 'as', 'default', 'value', 'claim'] as const;

type RuleKey = (typeof RULE_KEYS)[number];

/** A rule, or the reason why it is none. */
export type ReadRule = { readonly rule: HeaderRule } | { readonly fault: string };

const ACTIONS = ['propagate', 'insert', 'remove'] as const;
/** What else each may have. */
const OPTIONS: Readonly<Record<(typeof ACTIONS)[number], readonly RuleKey[]>> = {
  propagate: ['as', 'default'],
  insert: ['value', 'claim', 'default'],
  remove: [],
};
const MAY: Readonly<Record<HeaderUse, (name: string) => boolean>> = { forward: mayForward, remove: mayRemove, return: mayReturn };
/** The name of a claim, or a path of names. */
const CLAIM = /^[\x21-\x7e]{1,200}$/;

/** Returns the rule. The names of headers become lower case. A fault never contains a value. */
export function readHeaderRule(fields: Readonly<Partial<Record<string, string>>>, direction: Direction): ReadRule {
  const actions = ACTIONS.filter((each) => fields[each] !== undefined);
  const [action] = actions;
  if (action === undefined || actions.length > 1) return { fault: 'must have one of `propagate`, `insert` and `remove`' };
  const extra = Object.keys(fields).find((key) => key !== action && !OPTIONS[action].includes(key as RuleKey));
  if (extra !== undefined) return { fault: `must not have \`${extra}\` beside \`${action}\`` };
  if (fields[action]?.includes('*') === true) return readPatternRule(fields, { action, direction });
  const [name, as] = [(fields[action] ?? '').toLowerCase(), fields['as']?.toLowerCase()];
  const value = fields['value'] ?? fields['default'];
  const use = direction === 'response' ? 'return' : action === 'remove' ? 'remove' : 'forward';
  const isAllowed = MAY[use];
  const isNamed = use === 'return' && as !== undefined ? mayRead(name) : isAllowed(name);
  if (!isNamed) return { fault: describeHeaderFault(fields[action] ?? '', use) };
  if (as !== undefined && !isAllowed(as)) return { fault: describeHeaderFault(fields['as'] ?? '', use) };
  if (value !== undefined && !isHeaderValue(value)) return { fault: 'must have a value of 1 to 8192 visible ASCII characters' };
  if (action === 'remove') return { rule: { kind: 'remove', name } };
  if (action === 'propagate') return { rule: { kind: 'propagate', name, as: as ?? name, fallback: value } };
  return readInsertion(fields, { name, direction });
}

/** In the name of a header `*` is allowed (RFC 9110 §5.6.2), but none is known that has it. */
function readPatternRule(
  fields: Readonly<Partial<Record<string, string>>>,
  { action, direction }: { readonly action: (typeof ACTIONS)[number]; readonly direction: Direction },
): ReadRule {
  const name = fields[action] ?? '';
  const pattern = readHeaderPattern(name);
  if (action === 'insert') return { fault: 'must name one header beside `insert`, without `*`' };
  if (direction === 'response') return { fault: 'must name one header, without `*`: patterns are for requests' };
  if (!pattern || !mayForward(name)) return { fault: 'must have `*` once, among characters that names of headers may have' };
  if (action === 'remove') return { rule: { kind: 'remove like', pattern } };
  const extra = Object.keys(fields).find((key) => key !== action);
  if (extra !== undefined) return { fault: `must not have \`${extra}\` beside a pattern: headers keep their names and values` };
  return { rule: { kind: 'propagate like', pattern } };
}

function readInsertion(
  { value, claim, default: fallback }: Readonly<Partial<Record<string, string>>>,
  { name, direction }: { readonly name: string; readonly direction: Direction },
): ReadRule {
  if (claim === undefined) {
    if (value === undefined) return { fault: 'must have `value` or `claim` beside `insert`' };
    return fallback === undefined ? { rule: { kind: 'insert', name, value } } : { fault: 'must not have `default` beside `value`' };
  }
  if (value !== undefined) return { fault: 'must not have both `value` and `claim`' };
  if (direction === 'response') return { fault: 'must not have `claim`: only requests have a token' };
  if (!CLAIM.test(claim)) return { fault: 'must name a claim, by 1 to 200 visible ASCII characters' };
  return { rule: { kind: 'claim', name, claim, fallback } };
}
