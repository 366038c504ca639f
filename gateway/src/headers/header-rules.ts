/** Rules for headers that go to subgraphs and come back, compiled for one subgraph. No I/O. */
import { mayRemove } from './header-names.ts';
import { type HeaderPattern, isLike, isMatched } from './header-patterns.ts';
import { findCredential } from '../request/identity.ts';
import { readClaims, toClaimValue } from './header-values.ts';

/** One rule. Names are in lower case. */
export type HeaderRule =
  /** Passes a header on, under the name `as`. `fallback` is its value when there is none. */
  | { readonly kind: 'propagate'; readonly name: string; readonly as: string; readonly fallback: string | undefined }
  /** Passes on each header for which the pattern stands, under its own name. */
  | { readonly kind: 'propagate like'; readonly pattern: HeaderPattern }
  /** Sets a header to a value. */
  | { readonly kind: 'insert'; readonly name: string; readonly value: string }
  /** Sets a header to a claim of the caller's token. `fallback` is its value when the token has no such claim, and without a token. */
  | { readonly kind: 'claim'; readonly name: string; readonly claim: string; readonly fallback: string | undefined }
  /** Removes what was passed on so far. */
  | { readonly kind: 'remove'; readonly name: string }
  /** Removes each header for which the pattern stands. */
  | { readonly kind: 'remove like'; readonly pattern: HeaderPattern };

/** The rules of one direction: for all subgraphs, and then for one, by its name in lower case. */
export interface RulesBySubgraph {
  readonly all: readonly HeaderRule[];
  readonly bySubgraph: ReadonlyMap<string, readonly HeaderRule[]>;
}

/** All rules. */
export interface HeaderRules {
  readonly request: RulesBySubgraph;
  readonly response: RulesBySubgraph;
}

const NO_DIRECTION: RulesBySubgraph = { all: [], bySubgraph: new Map() };

/** Without a rule. */
export const NO_HEADER_RULES: HeaderRules = { request: NO_DIRECTION, response: NO_DIRECTION };

/** A header for the client: of the subgraph's response, or with a value of its own. */
export interface ReturnedHeader {
  readonly as: string;
  /** Undefined for a header that does not depend on the response. */
  readonly from: string | undefined;
  readonly fallback: string | undefined;
}

/** Headers, names and values in turn. */
type Fields = readonly string[];

/** Applies rules to the headers of a fetch. */
export type RewriteHeaders = (fields: Fields, identity: Fields) => Fields;

/** Returns whether any rule needs the claims of tokens. */
export function hasClaims({ request }: HeaderRules): boolean {
  return listRules(request).some(({ kind }) => kind === 'claim');
}

/** Returns the names of the request headers that any rule passes on by name. */
export function findPropagated({ request }: HeaderRules): string[] {
  return [...new Set(listRules(request).flatMap((rule) => (rule.kind === 'propagate' ? [rule.name] : [])))];
}

/**
 * Returns a function that says whether any rule passes on a request header by a pattern, by its name in lower case; undefined without such a rule. No
 * pattern stands for one of the `secret` names.
 */
export function createMatcher({ request }: HeaderRules, secret: readonly string[] = []): ((name: string) => boolean) | undefined {
  const patterns = listRules(request).flatMap((rule) => (rule.kind === 'propagate like' ? [rule.pattern] : []));
  return patterns.length === 0 ? undefined : (name) => isMatched(name, patterns) && !secret.includes(name);
}

/** Returns the names of the headers that clients may get by any rule for responses. */
export function findReturned({ response }: HeaderRules): string[] {
  const toNames = (rule: HeaderRule) => (rule.kind === 'propagate' ? [rule.as] : rule.kind === 'insert' ? [rule.name] : []);
  return [...new Set(listRules(response).flatMap(toNames))];
}

function listRules({ all, bySubgraph }: RulesBySubgraph): HeaderRule[] {
  return [...all, ...[...bySubgraph.values()].flat()];
}

/**
 * Returns what makes the headers of a fetch to a subgraph of those that it would have without rules, for an identity, whose credential has the claims;
 * undefined when no rule exists. `kept` are the headers that every subgraph gets without a
 * rule: others that rules of any subgraph pass on are taken out first.
 */
export function compileRequestRules(rules: HeaderRules, subgraph: string, kept: readonly string[]): RewriteHeaders | undefined {
  const own = toOwn(rules.request, subgraph);
  const hidden = new Set(findPropagated(rules).filter((name) => !kept.includes(name)));
  const isCollected = createMatcher(rules);
  if (own.length === 0 && hidden.size === 0 && !isCollected) return undefined;
  return (fields, identity) => {
    let sent = remove(fields, (name) => hidden.has(name) || (isCollected?.(name) === true && !kept.includes(name)));
    for (const rule of own) sent = apply(rule, sent, { fields, identity });
    return sent;
  };
}

interface Received {
  readonly fields: Fields;
  readonly identity: Fields;
}

function apply(rule: HeaderRule, sent: string[], { fields: received, identity }: Received): string[] {
  if (rule.kind === 'remove') return remove(sent, (name) => name === rule.name);
  if (rule.kind === 'remove like') return remove(sent, (name) => isLike(name, rule.pattern) && mayRemove(name));
  if (rule.kind === 'propagate like') {
    const matched = received.filter((_, i) => isMatched(received[i - (i % 2)] ?? '', [rule.pattern]));
    return [...replaceFields(sent, matched)];
  }
  if (rule.kind === 'insert') return replace(sent, rule.name, rule.value);
  if (rule.kind === 'claim') {
    const value = toClaimValue(readClaims(findCredential(identity)), rule.claim) ?? rule.fallback;
    // Without the claim no subgraph may get what the client has sent under this name.
    return value === undefined ? remove(sent, (name) => name === rule.name) : replace(sent, rule.name, value);
  }
  const value = valueOf(received, rule.name) ?? rule.fallback;
  return value === undefined ? sent : replace(sent, rule.as, value);
}

function valueOf(fields: Fields, name: string): string | undefined {
  const index = fields.findIndex((each, i) => i % 2 === 0 && each === name);
  return index < 0 ? undefined : fields[index + 1];
}

function replace(fields: Fields, name: string, value: string): string[] {
  return [...remove(fields, (each) => each === name), name, value];
}

/** Returns the headers with others, each in place of those of the same name. */
export function replaceFields(fields: Fields, others: Fields): readonly string[] {
  let replaced = fields;
  for (let i = 0; i + 1 < others.length; i += 2) replaced = replace(replaced, others[i] as string, others[i + 1] as string);
  return replaced;
}

function remove(fields: Fields, isRemoved: (name: string) => boolean): string[] {
  return fields.filter((_, i) => !isRemoved(fields[i - (i % 2)] ?? ''));
}

/** Returns the headers of a subgraph's responses that go to the client. */
export function compileResponseRules(rules: HeaderRules, subgraph: string): readonly ReturnedHeader[] {
  let returned: readonly ReturnedHeader[] = [];
  for (const rule of toOwn(rules.response, subgraph)) {
    if (rule.kind === 'propagate like' || rule.kind === 'remove like') continue;
    const target = rule.kind === 'propagate' ? rule.as : rule.name;
    returned = returned.filter(({ as }) => as !== target);
    if (rule.kind === 'insert') returned = [...returned, { as: target, from: undefined, fallback: rule.value }];
    if (rule.kind === 'propagate') returned = [...returned, { as: target, from: rule.name, fallback: rule.fallback }];
  }
  return returned;
}

function toOwn({ all, bySubgraph }: RulesBySubgraph, subgraph: string): HeaderRule[] {
  return [...all, ...(bySubgraph.get(subgraph.toLowerCase()) ?? [])];
}
