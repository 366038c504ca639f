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
  return findCredential(identity) !== undefined || identity.some((name, i) => i % 2 === 0 && name === 'cookie');
}

/** The parts of a context that distinguish callers. */
export type CallerSource = Pick<RequestContext, 'caller' | 'identity' | 'client'>;

/**
 * Returns the tags of a client, that of its caller first: the account of its token, the headers that go to subgraphs where tokens are not checked, or the
 * network of an anonymous client. A mutation invalidates the first for its client; a lookup needs all of them to be valid.
 */
export function toClientTags({ caller, identity, client = '' }: CallerSource): readonly string[] {
  const network = client === '' ? [] : [`client:${client}`];
  if (caller) return [`caller:${caller.userId}`, ...network];
  return identity.length > 0 ? [`caller:${digest(JSON.stringify(identity))}`, ...network] : network;
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
