/** Which headers settings may name. */

const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,128}$/;

/** Headers of one connection or one message (RFC 9110 §7.6.1), and those that frame a message. */
const OF_MESSAGE = [
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'expect'],
  ...['content-length', 'content-type', 'content-encoding'],
];
const NEVER_FORWARDED: ReadonlySet<string> = new Set([...OF_MESSAGE, 'authorization', 'x-api-key', 'x-request-id', 'trestle-client']);
/** Fetches have these from the gateway. A rule may only take them away. */
const NEVER_REMOVED: ReadonlySet<string> = new Set([...OF_MESSAGE, 'accept']);
/** The gateway decides these for its own response. */
const NEVER_RETURNED: ReadonlySet<string> = new Set([
  ...[...OF_MESSAGE, 'accept-ranges', 'age', 'allow', 'alt-svc', 'content-range', 'date', 'etag', 'expires', 'last-modified'],
  ...['location', 'retry-after', 'server', 'server-timing', 'status', 'strict-transport-security', 'vary', 'www-authenticate'],
  ...['x-request-id', 'idempotent-replayed'],
]);

/** Returns whether a string is the name of a header. */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/** Returns whether a header belongs to one message or one connection, so that no setting may name it. */
export function isOfMessage(name: string): boolean {
  return OF_MESSAGE.includes(name.toLowerCase());
}

/** Returns whether a request header may be forwarded. */
export function mayForward(name: string): boolean {
  return TOKEN.test(name) && !NEVER_FORWARDED.has(name.toLowerCase());
}

/** Returns whether a request for the supergraph may have the header. In environment variables `_` stands for `-`, so no name has it. */
export function mayRequest(name: string): boolean {
  const lower = name.toLowerCase();
  return TOKEN.test(name) && !name.includes('_') && !OF_MESSAGE.includes(lower) && !['accept-encoding', 'if-none-match'].includes(lower);
}

/** Returns whether an extension may set the header of a fetch: any that does not belong to the message or the connection. */
export function mayInsert(name: string): boolean {
  return TOKEN.test(name) && !OF_MESSAGE.includes(name.toLowerCase());
}

/** Returns whether a request header may be left out of fetches. */
export function mayRemove(name: string): boolean {
  return TOKEN.test(name) && !NEVER_REMOVED.has(name.toLowerCase());
}

/** Returns whether a header of a subgraph's response may be read, to send its value under another name. */
export function mayRead(name: string): boolean {
  return TOKEN.test(name) && !OF_MESSAGE.includes(name.toLowerCase());
}

/** Returns whether a header of a subgraph's response may be sent to the client. */
export function mayReturn(name: string): boolean {
  const lower = name.toLowerCase();
  return TOKEN.test(name) && !NEVER_RETURNED.has(lower) && !/^(?:access-control|content-security|x-ratelimit|ratelimit)/.test(lower);
}
