/** Adds headers of subgraphs' responses to the fetch log, which the client's response takes them from. */
import type { ClientResponse } from '@trestle/http-client/upstream-client';
import type { ReturnedHeader } from '../headers/header-rules.ts';
import type { RequestContext } from '../request/context.ts';

const CACHE_CONTROL = 'cache-control';

type Log = RequestContext['fetchLog'];
type Headers = Pick<ClientResponse, 'header' | 'headerValues'>;

/** Adds the headers of a mutation's response that go back to the client. `names` are in lower case. */
export function noteForwarded(response: Headers, names: readonly string[], fetchLog: Log): void {
  for (const name of names) fetchLog.forward(name, response.headerValues(name));
}

/** Returns the `Cache-Control` that rules return to the client; undefined when none does. */
export function findReturnedCaching(response: Headers, returned: readonly ReturnedHeader[]): string | undefined {
  for (const { as, from, fallback } of returned)
    if (as === CACHE_CONTROL) return from === undefined ? fallback : (response.header(from) ?? fallback);
  return undefined;
}

/** Adds the headers that rules return to the client. */
export function noteReturned(response: Headers, returned: readonly ReturnedHeader[], fetchLog: Log): void {
  const caching = findReturnedCaching(response, returned);
  fetchLog.restrictCaching(caching, { age: response.header('age'), vary: response.header('vary') });
  for (const { as, from, fallback } of returned) {
    if (as === CACHE_CONTROL) continue;
    const values = from === undefined ? [] : response.headerValues(from);
    if (values.length > 0) fetchLog.forward(as, values);
    else if (fallback !== undefined) fetchLog.forward(as, fallback);
  }
}
