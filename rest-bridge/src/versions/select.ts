/** Reads the version that a request wants from its four selectors (spec §9.1–§9.3, contract §4). No I/O. */
import { fail } from '@trestle/schema/errors';
import { DEFAULT_VERSION, type Versions } from './versions.ts';

export interface Selectors {
  /** The digits of `/v<N>`, where the path has them. */
  readonly path: string | undefined;
  /** `API-Version`: a number or a day. */
  readonly header: string | undefined;
  readonly accept: string | undefined;
  /** `?version=`. */
  readonly query: string | null;
}

const VENDOR_TYPE = /application\/vnd\.trestle\.v(\d{1,9})\+json/gi;
const NUMBER = /^\d{1,9}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * The version all selectors agree on, version 1 when there is none. Throws for a version that does not exist: NOT_FOUND in a path,
 * NOT_ACCEPTABLE in `Accept`, VALIDATION_ERROR elsewhere; and VALIDATION_ERROR for two that disagree.
 */
export function selectVersion(versions: Versions, { path, header, accept, query }: Selectors): number {
  // Nearly every request names its version in the path, and nothing else.
  if (header === undefined && query === null && !accept?.includes('vnd.trestle')) return readPath(versions, path) ?? DEFAULT_VERSION;
  const chosen = [readPath(versions, path), readHeader(versions, header), readAccept(versions, accept), readQuery(versions, query)];
  const distinct = [...new Set(chosen.filter((version) => version !== undefined))];
  if (distinct.length > 1) throw fail('VALIDATION_ERROR', 'The request names two versions: in path, API-Version, Accept or ?version=');
  return distinct[0] ?? DEFAULT_VERSION;
}

function readPath({ known }: Versions, digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined;
  const version = Number(digits);
  // `/v01` is another path than `/v1`.
  if (!known.includes(version) || String(version) !== digits) throw fail('NOT_FOUND', 'There is no such version');
  return version;
}

function readHeader(versions: Versions, header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const version = isDay(text) ? versions.at(text) : NUMBER.test(text) ? Number(text) : undefined;
  if (version !== undefined && versions.known.includes(version)) return version;
  throw unknownVersion('API-Version', versions);
}

function readAccept({ known }: Versions, accept = ''): number | undefined {
  const wanted = Array.from(accept.matchAll(VENDOR_TYPE), ([, digits]) => Number(digits));
  if (wanted.length === 0) return undefined;
  const version = wanted.find((one) => known.includes(one));
  if (version === undefined) throw fail('NOT_ACCEPTABLE', 'There is no such version');
  return version;
}

function readQuery(versions: Versions, query: string | null): number | undefined {
  if (query === null) return undefined;
  const version = NUMBER.test(query) ? Number(query) : undefined;
  if (version !== undefined && versions.known.includes(version)) return version;
  throw unknownVersion('version', versions);
}

function unknownVersion(field: string, { known }: Versions) {
  const message = `must be one of ${known.join(', ')}${field === 'version' ? '' : ', or a day such as 2026-11-01 from the first release on'}`;
  return fail('VALIDATION_ERROR', 'There is no such version', { details: [{ field, message }] });
}

/** A day that the calendar has. */
function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
