/** The life cycle of API versions: deprecated with warning headers, then retired with 410 (spec §9.5, §9.6, contract §4). No I/O. */
import { CHANGELOG } from './changelog.ts';

/** The dates of a deprecated version. */
export interface Lifecycle {
  readonly deprecatedAt: Date;
  readonly sunsetAt: Date;
}

/** What the life cycle of a version means for a response. */
export interface VersionStatus {
  /** The message of the 410 once the version is retired; undefined before. */
  readonly retired: string | undefined;
  /** `Deprecation`, `Sunset` and `Link` from the deprecation on; empty before. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The parts of a request target on which the life cycle of its version depends. */
export interface RequestPlace {
  readonly api: string;
  /** The version prefix, such as `/api/v1`; empty for an unversioned path. */
  readonly prefix: string;
  readonly path: string;
}

/** The API versions. */
export interface Versions {
  readonly known: readonly number[];
  /** Returns the newest version released on or before the date `YYYY-MM-DD`; undefined before the first release (spec §9.3). */
  at(date: string): number | undefined;
  /**
   * Returns the version of a request that selects none: version 1. For the index and the documents without a version in their path it is the oldest that
   * is not retired, or else the newest, so that they remain after a retirement.
   */
  defaultAt(place: RequestPlace): number;
  /**
   * Returns the status of a version for a request target. `api` (`/api` or empty) and `path`, as the client wrote them, form the link to the
   * successor. A path below `/.well-known/` belongs to no version unless its prefix names one (RFC 8615 §3).
   */
  statusOf(version: number, place: RequestPlace): VersionStatus;
}

/** The version of a request that names none, and of responses that belong to none. */
export const DEFAULT_VERSION = 1;

/** The headers of a version that is not deprecated. */
export const NO_HEADERS: Readonly<Record<string, string>> = {};
const WELL_KNOWN = '/.well-known/';
const CURRENT: VersionStatus = { retired: undefined, headers: NO_HEADERS };

/** Creates the versions of the changelog with the life cycles of `API_VERSIONS_FILE`. */
export function createVersions(lifecycles: ReadonlyMap<number, Lifecycle>, now: () => number = Date.now): Versions {
  const known = CHANGELOG.map(({ version }) => version);
  const isRetired = (version: number) => now() >= (lifecycles.get(version)?.sunsetAt.getTime() ?? Infinity);
  const described = () => known.find((version) => !isRetired(version)) ?? Math.max(...known);
  return {
    known,
    at: (date) => CHANGELOG.findLast(({ releasedOn }) => releasedOn <= date)?.version,
    defaultAt: (place) => (isDescription(place) ? described() : DEFAULT_VERSION),
    statusOf(version, { api, prefix, path }) {
      if (prefix === '' && path.startsWith(WELL_KNOWN)) return CURRENT;
      const lifecycle = lifecycles.get(version);
      if (!lifecycle || now() < lifecycle.deprecatedAt.getTime()) return CURRENT;
      const { sunsetAt } = lifecycle;
      const isShown = isDescription({ api, prefix, path }) && version === described();
      const successor = known.find((other) => other > version);
      return {
        retired: isRetired(version) && !isShown ? toRetiredMessage({ version, sunsetAt, successor }) : undefined,
        headers: {
          deprecation: 'true',
          sunset: sunsetAt.toUTCString(),
          ...(successor !== undefined && { link: `<${api}/v${String(successor)}${path}>; rel="successor-version"` }),
        },
      };
    },
  };
}

/** What describes the API, without a version in its path (contract §4). */
const DESCRIPTIONS: ReadonlySet<string> = new Set(['', '/docs', '/openapi.json', '/asyncapi.json']);

function isDescription({ api, prefix, path }: RequestPlace): boolean {
  return prefix === api && DESCRIPTIONS.has(path.endsWith('/') ? path.slice(0, -1) : path);
}

interface Retirement {
  readonly version: number;
  readonly sunsetAt: Date;
  readonly successor: number | undefined;
}

function toRetiredMessage({ version, sunsetAt, successor }: Retirement): string {
  const retired = `API version ${String(version)} was retired on ${sunsetAt.toISOString().slice(0, 10)}.`;
  return successor === undefined ? retired : `${retired} Use version ${String(successor)}.`;
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Parses `API_VERSIONS_FILE`: `{"1": {"deprecatedAt": "<ISO time>", "sunsetAt": "<ISO time>"}}`. Without `sunsetAt` a version is retired
 * six months after its deprecation (spec §9.5). Throws an Error that completes "API_VERSIONS_FILE …".
 */
export function parseLifecycles(text: string): Map<number, Lifecycle> {
  const parsed = JSON.parse(text) as unknown;
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new Error('must be a JSON object with versions as names');
  return new Map(
    Object.entries(parsed).map(([name, value]) => {
      const version = CHANGELOG.find((release) => String(release.version) === name)?.version;
      if (version === undefined) throw new Error(`names an unknown version: ${name.slice(0, 20)}`);
      const { deprecatedAt, sunsetAt } = (value ?? {}) as Record<string, unknown>;
      const deprecated = parseTime(`${name}.deprecatedAt`, deprecatedAt);
      const sunset = sunsetAt === undefined ? sixMonthsAfter(deprecated) : parseTime(`${name}.sunsetAt`, sunsetAt);
      if (sunset < deprecated) throw new Error(`has ${name}.sunsetAt before ${name}.deprecatedAt`);
      return [version, { deprecatedAt: deprecated, sunsetAt: sunset }];
    }),
  );
}

function parseTime(name: string, value: unknown): Date {
  const time = typeof value === 'string' && ISO_TIME.test(value) ? new Date(value) : new Date(NaN);
  if (Number.isNaN(time.getTime())) throw new Error(`must have ${name} as an ISO 8601 time`);
  return time;
}

function sixMonthsAfter(time: Date): Date {
  const later = new Date(time);
  later.setUTCMonth(later.getUTCMonth() + 6);
  return later;
}
