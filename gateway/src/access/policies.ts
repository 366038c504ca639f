/** The policies of `@policy` (federation 2.6): which callers each of them holds for. A policy that is not configured holds for nobody. */
import { ROLES, type Role, hasRole, type Caller } from '@trestle/identity';
import { isObject } from '../request/json.ts';

/** One way to meet a policy: a caller with at least this role and all of these scopes. Without either, every caller with a credential. */
interface PolicyRule {
  readonly role: Role | undefined;
  readonly scopes: readonly string[];
}

export interface Policies {
  /** The text of their file. */
  readonly source: string;
  /** Returns the names of the policies that hold for a caller. */
  readonly findFor: (caller: Caller) => ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** No policy holds for anybody. */
export const NO_POLICIES: Policies = { source: '', findFor: () => NONE };

const MAX_POLICIES = 1000;
const MAX_RULES = 100;
const MAX_SCOPES = 100;

/**
 * Parses POLICIES_FILE: `{"<policy>": [{"role": "ADMIN"}, {"scopes": ["a", "b"]}]}`. A policy holds for a caller that meets one of its rules; `{}`
 * holds for every caller with a credential, an empty list for nobody. Throws an Error for any other JSON.
 */
export function readPolicies(text: string): Policies {
  const json: unknown = JSON.parse(text);
  if (!isObject(json)) throw new Error('must be a JSON object of policies by name');
  const entries = Object.entries(json);
  if (entries.length > MAX_POLICIES) throw new Error(`must have at most ${String(MAX_POLICIES)} policies`);
  const policies = entries.map(([name, rules]) => ({ name, rules: readRules(name, rules) }));
  return {
    source: text,
    findFor: (caller) => new Set(policies.filter(({ rules }) => rules.some((rule) => holds(rule, caller))).map(({ name }) => name)),
  };
}

function readRules(policy: string, value: unknown): PolicyRule[] {
  if (!Array.isArray(value) || value.length > MAX_RULES)
    throw new Error(`the policy \`${policy}\` must be a list of at most ${String(MAX_RULES)} rules`);
  return value.map((rule: unknown) => {
    if (!isObject(rule)) throw new Error(`each rule of the policy \`${policy}\` must be an object`);
    const unknown = Object.keys(rule).find((key) => key !== 'role' && key !== 'scopes');
    if (unknown !== undefined)
      throw new Error(`unknown member \`${unknown}\` in a rule of the policy \`${policy}\`; use \`role\` and \`scopes\``);
    return { role: readRole(policy, rule['role']), scopes: readScopes(policy, rule['scopes']) };
  });
}

function readRole(policy: string, value: unknown): Role | undefined {
  const role = ROLES.find((each) => each === value);
  if (value !== undefined && !role) throw new Error(`\`role\` of the policy \`${policy}\` must be one of ${ROLES.join(', ')}`);
  return role;
}

function readScopes(policy: string, value: unknown = []): readonly string[] {
  const isList = Array.isArray(value) && value.length <= MAX_SCOPES && value.every((each) => typeof each === 'string' && each !== '');
  if (!isList) throw new Error(`\`scopes\` of the policy \`${policy}\` must be a list of at most ${String(MAX_SCOPES)} scopes`);
  return value as string[];
}

function holds({ role, scopes }: PolicyRule, caller: Caller): boolean {
  const held: ReadonlySet<string> = caller.scopes;
  return (role === undefined || hasRole(caller, role)) && scopes.every((scope) => held.has(scope));
}
