/** The parameters of a query string. Each parser takes the ones that it knows; those that remain are faults. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';

/** The parameters that have not been parsed yet. */
export interface Parameters {
  /** Returns the value of a parameter, or undefined when it is absent, and removes it. */
  take(name: string): string | undefined;
  /**
   * Returns the items of a list, sent with commas (`sort=a,b`) or repeated (`sort=a&sort=b`), as in the `form` style of OpenAPI without
   * and with `explode`, and removes the parameter. Returns undefined when it is absent or empty.
   */
  takeList(name: string): readonly string[] | undefined;
  /** Returns whether the parameter is present, without removing it. */
  has(name: string): boolean;
  /**
   * Returns a fault for each parameter that is unknown, repeated although it is not a list, or contains U+0000, which PostgreSQL cannot store. The last
   * is left out for a parameter with another fault, here or in `found`.
   */
  faults(found?: readonly FieldFault[]): readonly FieldFault[];
}

/** No list parameter has more known names. */
const MAX_ITEMS = 100;

/** The parameters of a request without a query string. */
const NONE: Parameters = { take: () => undefined, takeList: () => undefined, has: () => false, faults: () => NO_FAULTS };
const NO_FAULTS: readonly FieldFault[] = [];

/** Creates the parameters of a query string. */
export function createParameters(search: URLSearchParams): Parameters {
  if (search.size === 0) return NONE;
  const left = new Map<string, string[]>();
  const faults: FieldFault[] = [];
  const withNul = new Set<string>();
  for (const [name, value] of search) {
    if (value.includes('\0')) withNul.add(name);
    const values = left.get(name);
    if (values) values.push(value);
    else left.set(name, [value]);
  }
  const remove = (name: string): readonly string[] => {
    const values = left.get(name) ?? [];
    left.delete(name);
    return values;
  };
  return {
    take(name) {
      const values = remove(name);
      if (values.length > 1) faults.push({ field: name, message: 'must not be repeated' });
      return values.at(-1);
    },
    takeList(name) {
      const items = remove(name).flatMap((value) => (value === '' ? [] : value.split(',')));
      if (items.length > MAX_ITEMS) faults.push({ field: name, message: `must have at most ${String(MAX_ITEMS)} items` });
      return items.length > 0 ? items.slice(0, MAX_ITEMS) : undefined;
    },
    has: (name) => left.has(name),
    faults(found = NO_FAULTS) {
      const unknown = Array.from(left.keys(), (name) => ({ field: name, message: 'is not a known query parameter' }));
      const own = [...faults, ...unknown];
      if (withNul.size === 0) return own;
      const named = new Set([...found, ...own].map(({ field }) => field));
      const rest = [...withNul].filter((name) => !named.has(name));
      return [...rest.map((name) => ({ field: name, message: 'must not contain the character U+0000' })), ...own];
    },
  };
}
