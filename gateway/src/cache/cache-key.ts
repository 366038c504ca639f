/** Names what a result depends on, and whose results a mutation makes outdated. No I/O. */
import { createHash } from 'node:crypto';
import type { RequestContext } from '../request/context.ts';
import { findCredential } from '../request/identity.ts';
import type { OperationRequest } from '../request/operation.ts';

/** What a result depends on. */
export interface KeySource extends Pick<OperationRequest, 'query' | 'operationName'> {
  /** The hash of the supergraph. */
  readonly hash: string;
  /** The variables with the operation's defaults. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Headers that subgraphs get of the client, names and values in turn. */
  readonly identity: readonly string[];
}

/** Returns the key of a result. Variables and input objects that differ in the order of their members only have the same. */
export function toCacheKey({ hash, query, operationName, variables, identity }: KeySource): string {
  return digest(JSON.stringify([hash, query, operationName ?? null, identity, toSorted(variables)]));
}

const QUERY = '{"query":"query ';

/** Returns the body of a fetch, up to its representations, without the name of the operation, which the client chooses. */
export function withoutName(head: string, name: string | undefined): string {
  if (name === undefined) return head;
  // In the document, as part of a JSON string, quotes are escaped.
  const member = `,"operationName":"${name}"`;
  const at = head.indexOf(member);
  return at < 0 || !head.startsWith(name, QUERY.length)
    ? head
    : `${head.slice(QUERY.length + name.length, at)}${head.slice(at + member.length)}`;
}

/**
 * Returns whether the headers have what identifies a client: a credential that it has sent, or cookies. Others, such as `Accept-Language`, are those of many clients,
 * which must not get private results of each other.
 */
export function hasCredential(identity: readonly string[]): boolean {
  return findSent(identity) !== undefined;
}

/** The parts of a context that distinguish callers. */
export type CallerSource = Pick<RequestContext, 'caller' | 'identity' | 'client'>;

/**
 * Returns the tags of a client that a lookup needs to be valid: that of who the client is, and that of its network. With a token the client is the account;
 * where tokens are not checked, the credential that it has sent, else its cookies. Other headers that go to subgraphs, such as `Accept-Language`, may
 * change between two requests of a client.
 */
export function toClientTags(source: CallerSource): readonly string[] {
  const { caller, identity, client = '' } = source;
  const network = client === '' ? [] : [`client:${client}`];
  if (caller) return [`caller:${caller.userId}`, ...network];
  const sent = findSent(identity) ?? (identity.length > 0 ? JSON.stringify(identity) : undefined);
  return sent === undefined ? network : [`caller:${digest(sent)}`, ...network];
}

/** Returns the tags of a client that its mutation invalidates. Without a credential that is also its network, which its headers cannot distinguish. */
export function toMutationTags(source: CallerSource): readonly string[] {
  const tags = toClientTags(source);
  return source.caller || findSent(source.identity) !== undefined ? tags.slice(0, 1) : tags;
}

/** Returns what identifies a client whose token is not checked; undefined without it. */
function findSent(identity: readonly string[]): string | undefined {
  const credential = findCredential(identity);
  if (credential !== undefined) return `authorization ${credential}`;
  const cookies = identity.filter((_, i) => i % 2 === 1 && identity[i - 1] === 'cookie');
  return cookies.length > 0 ? `cookie ${cookies.join(';')}` : undefined;
}

/** Returns a digest of 43 characters. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Returns the value with the members of all its objects in one order. The nesting is limited before. */
function toSorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toSorted);
  // A list of entries instead of an object: a member may be called `__proto__`.
  const entries = Object.entries(value).filter((entry) => entry[1] !== undefined);
  return { entries: entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, toSorted(member)]) };
}
