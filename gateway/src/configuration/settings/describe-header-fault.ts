/** Says why a setting may not name a header. No I/O. */
import { isHeaderName, isOfMessage } from '../../headers/header-names.ts';

/** What a setting does with the header. */
export type HeaderUse = 'forward' | 'remove' | 'return';

/** The headers that fetches have without a setting. */
const SENT_ALWAYS: ReadonlySet<string> = new Set(['authorization', 'x-request-id']);

/** Returns the fault of a header that may not be used so. What is no name of a header is not quoted: it may be a secret in the wrong place. */
export function describeHeaderFault(name: string, use: HeaderUse): string {
  if (!isHeaderName(name)) return 'must be the name of a header: 1 to 128 letters, digits and hyphens';
  return `must not name \`${name}\`, which ${findReason(name, use)}`;
}

function findReason(name: string, use: HeaderUse): string {
  if (isOfMessage(name)) return 'belongs to one message or connection';
  if (use === 'remove') return 'every request to a subgraph has';
  if (use === 'return') return 'the gateway decides for its own responses';
  return SENT_ALWAYS.has(name.toLowerCase()) ? 'reaches subgraphs by itself; it can only be removed' : 'never reaches subgraphs';
}
