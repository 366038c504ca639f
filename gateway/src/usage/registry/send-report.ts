/** Sends one report to the registry. */
import { exchange } from '../../sources/exchange.ts';
import type { SendReport } from '../usage-destination.ts';

/** Where reports are sent. */
export interface RegistryTarget {
  /** The address of the registry, without a path of its API. */
  readonly url: string;
  readonly environment: string;
  /** A token with the scope REPORT. */
  readonly token: string;
}

/** What is wrong with the report itself, so that sending it again is of no use. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 415, 422]);
const LIMITS = { timeoutMs: 10_000, maxBytes: 1024 * 1024 };
const MAX_MISSING = 10_000;

/** Creates the function that sends a report to the registry. */
export function createRegistrySend({ url, environment, token }: RegistryTarget): SendReport {
  const address = new URL(`usage/${encodeURIComponent(environment)}`, url.endsWith('/') ? url : `${url}/`).href;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' };
  return async ({ body }, signal) => {
    const sent = { url: address, method: 'POST', headers, body, maxRedirects: 0 } as const;
    const { status, text } = await exchange(sent, { ...LIMITS, statuses: [200, ...REFUSALS], signal });
    return status === 200 ? { kind: 'taken', missing: readMissing(text) } : { kind: 'refused' };
  };
}

function readMissing(text: string): string[] {
  try {
    const { missing } = (JSON.parse(text) ?? {}) as { readonly missing?: unknown };
    return Array.isArray(missing) ? missing.filter((each) => typeof each === 'string').slice(0, MAX_MISSING) : [];
  } catch {
    return [];
  }
}
