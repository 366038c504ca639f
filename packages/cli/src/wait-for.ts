/** Reads the SDL that a subgraph serves, and waits until every replica of it serves a certain one. */
import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError, EXIT, usageError } from './exit-codes.ts';
import { type GraphQLRequest, sendGraphQL } from './http.ts';
import { maskCredentials, toShownUrl } from './shown-url.ts';

/** Configures a wait. */
export interface Wait {
  readonly url: string;
  readonly sdl: string;
  readonly timeoutMs: number;
  readonly onProgress: (text: string) => void;
}

const QUERY = '{ _service { sdl } }';
const REQUEST_MS = 10_000;
const PAUSE_MS = 500;
/** A load balancer shows one replica at a time: so many answers in a row must be right. */
const ANSWERS = 3;

/** Returns the SDL that a subgraph serves by `_service { sdl }` (Federation subgraph specification). Throws a CommandError with exit code 4. */
export async function introspect(url: URL, options: Pick<GraphQLRequest, 'address' | 'signal'> = {}): Promise<string> {
  const { data, errors } = await sendGraphQL({ url, query: QUERY, timeoutMs: REQUEST_MS, ...options });
  const sdl = (data as { _service?: { sdl?: unknown } } | null | undefined)?._service?.sdl;
  if (typeof sdl === 'string') return sdl;
  throw new CommandError(`${toShownUrl(url)} is no subgraph: ${errors?.[0]?.message ?? 'it serves no SDL'}.`, EXIT.server, 'NO_SUBGRAPH');
}

/** Returns a URL of http or https. Throws a CommandError for anything else. */
export function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw usageError(`"${maskCredentials(text)}" is not a URL of http or https.`);
  return url;
}

/**
 * Resolves when every address of the URL's host has served the SDL three times in a row, each time on a new connection. The order of definitions,
 * comments, spaces and the definitions of federation do not count. Throws a CommandError with exit code 5 when the time is over.
 */
export async function waitForSdl({ url: text, sdl, timeoutMs, onProgress }: Wait): Promise<void> {
  const url = parseUrl(text);
  const { normalizeSubgraph } = await import('@trestle/graph-checks/extract');
  const expected = normalizeSubgraph(sdl);
  const end = performance.now() + timeoutMs;
  let last = '';
  for (let answers = 0; answers < ANSWERS;) {
    const difference = await findDifference(url, (served) => normalizeSubgraph(served) === expected);
    answers = difference === undefined ? answers + 1 : 0;
    if (difference === undefined) continue;
    if (difference !== last) onProgress(`Waiting for ${toShownUrl(url)}: ${difference}`);
    last = difference;
    if (performance.now() + PAUSE_MS > end) {
      throw new CommandError(
        `${toShownUrl(url)} did not serve the schema within ${String(timeoutMs / 1000)} s: ${difference}.`,
        EXIT.waited,
        'WAIT_TIMEOUT',
      );
    }
    await sleep(PAUSE_MS);
  }
}

/** Returns what one of the replicas serves instead, or undefined when all serve the SDL. Addresses are looked up each time: they change in a deploy. */
async function findDifference(url: URL, isExpected: (sdl: string) => boolean): Promise<string | undefined> {
  try {
    const addresses = await lookup(url.hostname.replace(/^\[|\]$/gu, ''), { all: true });
    for (const address of addresses) {
      if (!isExpected(await introspect(url, { address }))) return `${address.address} serves another schema`;
    }
    return addresses.length === 0 ? 'the host has no address' : undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/\.$/u, '') : String(error);
  }
}
