/** Names the device of a client by its `User-Agent` (RFC 9110 §10.1.5), so that people recognize their sessions. No I/O. */

/** Longer headers are cut before they are read. */
const MAX_READ = 500;
const MAX_NAME = 60;

/** The first match counts: most browsers also name those that they are compatible with. */
const PROGRAMS: readonly (readonly [token: string, name: string])[] = [
  ['Edg/', 'Edge'],
  ['EdgA/', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser/', 'Samsung Internet'],
  ['FxiOS/', 'Firefox'],
  ['Firefox/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['HeadlessChrome/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
];
const SYSTEMS: readonly (readonly [token: string, name: string])[] = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['CrOS', 'ChromeOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
];

/** Returns a name such as `Firefox on Linux`, the product of a client that is no browser, such as `curl`, or `Unknown device`. */
export function toDevice(userAgent: string | undefined): string {
  const text = (userAgent ?? '').slice(0, MAX_READ);
  const nameIn = (known: readonly (readonly [string, string])[]) => known.find(([token]) => text.includes(token))?.[1];
  const system = nameIn(SYSTEMS);
  const program = nameIn(PROGRAMS) ?? /^[\w.-]+/.exec(text)?.[0].slice(0, MAX_NAME);
  if (program === undefined) return system ?? 'Unknown device';
  return system === undefined ? program : `${program} on ${system}`;
}
