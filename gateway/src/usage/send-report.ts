/** Sends one report to the registry. */
import { exchange } from '../sources/exchange.ts';
import type { UsageReport } from './usage-reports.ts';

/** Where reports are sent. */
export interface UsageTarget {
  /** The address of the registry, without a path of its API. */
  readonly url: string;
  readonly environment: string;
  /** A token with the scope REPORT. */
  readonly token: string;
}

/** `taken`: the registry has it, and has no text of `missing`. `refused`: it will never take it. */
export type SendResult = { readonly kind: 'taken'; readonly missing: readonly string[] } | { readonly kind: 'refused' };

/** What is wrong with the report itself, so that sending it again is of no use. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 415, 422]);
const LIMITS = { timeoutMs: 10_000, maxBytes: 1024 * 1024 };
const MAX_MISSING = 10_000;

export type SendReport = (report: UsageReport, signal: AbortSignal) => Promise<SendResult>;

/** Creates the function that sends a report. It rejects with a SourceError when the registry cannot take it now. */
export function createSendReport({ url, environment, token }: UsageTarget): SendReport {
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
