/** Which versions there are now, and what each owes its clients: warnings, then 410 (spec §9.5, §9.6, contract §4). No I/O. */
import { CHANGELOG } from './changelog.ts';

export interface Lifecycle {
  readonly deprecatedAt: Date;
  readonly sunsetAt: Date;
}

/** What a version's answers carry besides. */
export interface Standing {
  readonly isSunset: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Versions {
  readonly known: readonly number[];
  /** The newest version that was out on the day, or undefined for a day before the first (spec §9.3). */
  at(day: string): number | undefined;
  /** `path` is below the prefix, `api` is `/api` or empty as the client wrote it; the successor's link is made of them. */
  standing(version: number, place: { readonly api: string; readonly path: string }): Standing;
}

export const DEFAULT_VERSION = 1;

const FINE: Standing = { isSunset: false, headers: {} };

export function createVersions(lifecycles: ReadonlyMap<number, Lifecycle>, now: () => number = Date.now): Versions {
  const known = CHANGELOG.map(({ version }) => version);
  return {
    known,
    at: (day) => CHANGELOG.findLast(({ releasedOn }) => releasedOn <= day)?.version,
    standing(version, { api, path }) {
      const lifecycle = lifecycles.get(version);
      if (!lifecycle || now() < lifecycle.deprecatedAt.getTime()) return FINE;
      const successor = known.find((other) => other > version);
      return {
        isSunset: now() >= lifecycle.sunsetAt.getTime(),
        headers: {
          deprecation: 'true',
          sunset: lifecycle.sunsetAt.toUTCString(),
          ...(successor !== undefined && { link: `<${api}/v${String(successor)}${path}>; rel="successor-version"` }),
        },
      };
    },
  };
}

const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Reads `API_VERSIONS_FILE`: `{"1": {"deprecatedAt": "<ISO time>", "sunsetAt": "<ISO time>"}}`. Without `sunsetAt` a version is sunset
 * six months after it was deprecated (spec §9.5). Throws an Error that names what is wrong.
 */
export function readLifecycles(text: string): Map<number, Lifecycle> {
  const given = JSON.parse(text) as unknown;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Error('must be a JSON object by version');
  return new Map(
    Object.entries(given).map(([name, value]) => {
      const version = CHANGELOG.find((release) => String(release.version) === name)?.version;
      if (version === undefined) throw new Error(`names a version that does not exist: ${name.slice(0, 20)}`);
      const { deprecatedAt, sunsetAt } = (value ?? {}) as Record<string, unknown>;
      const deprecated = readMoment(`${name}.deprecatedAt`, deprecatedAt);
      const sunset = sunsetAt === undefined ? sixMonthsAfter(deprecated) : readMoment(`${name}.sunsetAt`, sunsetAt);
      if (sunset < deprecated) throw new Error(`has ${name}.sunsetAt before ${name}.deprecatedAt`);
      return [version, { deprecatedAt: deprecated, sunsetAt: sunset }];
    }),
  );
}

function readMoment(name: string, value: unknown): Date {
  const moment = typeof value === 'string' && MOMENT.test(value) ? new Date(value) : new Date(NaN);
  if (Number.isNaN(moment.getTime())) throw new Error(`needs ${name} as an ISO time`);
  return moment;
}

function sixMonthsAfter(moment: Date): Date {
  const later = new Date(moment);
  later.setUTCMonth(later.getUTCMonth() + 6);
  return later;
}
