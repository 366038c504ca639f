/** Selects the API version of a request by its four selectors (spec §9.1–§9.3, contract §4). No I/O. */
import { fail } from '@trestle/schema/errors';
import { toMediaRanges } from '@trestle/service/messages/accept';
import type { Versions } from './versions.ts';

/** The parts of a request that can name a version. */
export interface VersionSelectors {
  /** The digits of `/v<N>` when the path has that prefix. */
  readonly path: string | undefined;
  /** `API-Version`: a number or a date. */
  readonly header: string | undefined;
  readonly accept: string | undefined;
  /** `?version=`. */
  readonly query: string | null;
  /** The version without selectors. */
  readonly fallback: number;
}

const VENDOR = /vnd\.trestle/i;
const VENDOR_TYPE = /^application\/vnd\.trestle\.v(\d{1,9})\+json$/i;
const NUMBER = /^\d{1,9}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Returns the version that all selectors agree on; `fallback` without selectors. Throws for a version that does not exist: NOT_FOUND in
 * a path, NOT_ACCEPTABLE in `Accept`, VALIDATION_ERROR elsewhere. Throws VALIDATION_ERROR when two selectors disagree.
 */
export function selectVersion(versions: Versions, { path, header, accept, query, fallback }: VersionSelectors): number {
  // Most requests name their version in the path only.
  if (header === undefined && query === null && (accept === undefined || !VENDOR.test(accept)))
    return parsePath(versions, path) ?? fallback;
  const selected = [parsePath(versions, path), parseHeader(versions, header), parseAccept(versions, accept), parseQuery(versions, query)];
  const distinct = [...new Set(selected.filter((version) => version !== undefined))];
  if (distinct.length > 1) {
    const names = distinct.sort((a, b) => a - b).join(' and ');
    throw fail('VALIDATION_ERROR', `Path, API-Version, Accept and ?version= select different API versions: ${names}. Select one.`);
  }
  return distinct[0] ?? fallback;
}

function parsePath({ known }: Versions, digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined;
  const version = Number(digits);
  // `/v01` is a different path from `/v1`.
  if (!known.includes(version) || String(version) !== digits) throw fail('NOT_FOUND', toUnknownVersion(digits, known));
  return version;
}

function parseHeader(versions: Versions, header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const version = isDate(text) ? versions.at(text) : NUMBER.test(text) ? Number(text) : undefined;
  if (version !== undefined && versions.known.includes(version)) return version;
  throw invalidSelector('API-Version', versions);
}

/** Returns the existing version that the client prefers. */
function parseAccept({ known }: Versions, accept = ''): number | undefined {
  const requested = toMediaRanges(accept).flatMap((range) => VENDOR_TYPE.exec(range)?.slice(1).map(Number) ?? []);
  if (requested.length === 0) return undefined;
  const version = requested.find((one) => known.includes(one));
  if (version === undefined) throw fail('NOT_ACCEPTABLE', toUnknownVersion(String(requested[0]), known));
  return version;
}

function parseQuery(versions: Versions, query: string | null): number | undefined {
  if (query === null) return undefined;
  const version = NUMBER.test(query) ? Number(query) : undefined;
  if (version !== undefined && versions.known.includes(version)) return version;
  throw invalidSelector('version', versions);
}

function toUnknownVersion(digits: string, known: readonly number[]): string {
  return `API version ${digits} does not exist. Existing versions: ${known.join(', ')}.`;
}

function invalidSelector(field: 'API-Version' | 'version', { known }: Versions) {
  const date = field === 'version' ? '' : ', or a date from the first release on, such as 2026-11-01';
  const details = [{ field, message: `must be one of ${known.join(', ')}${date}` }];
  return fail('VALIDATION_ERROR', `${field} does not name an existing API version.`, { details });
}

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
