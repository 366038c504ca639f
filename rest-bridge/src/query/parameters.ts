/** The query string as named parameters; whoever understands one takes it, and what is left over is a fault. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';

export interface Parameters {
  /** The value of a parameter, or undefined when it is absent; marks it as understood. */
  take(name: string): string | undefined;
  /**
   * The items of a list, sent with commas (`sort=a,b`) or repeated (`sort=a&sort=b`), as OpenAPI's `form` style has it with and without
   * `explode`; marks it as understood. Undefined when it is absent or empty.
   */
  takeList(name: string): readonly string[] | undefined;
  /** Whether the parameter is there, without taking it. */
  has(name: string): boolean;
  /** A fault for each parameter that nobody took, that no list is and was sent twice, or that holds U+0000, which no database stores. */
  faults(): FieldFault[];
}

/** No list has that many things to name. */
const MAX_ITEMS = 100;

export function createParameters(search: URLSearchParams): Parameters {
  const left = new Map<string, string[]>();
  const faults: FieldFault[] = [];
  for (const [name, value] of search) {
    if (value.includes('\0')) faults.push({ field: name, message: 'must not contain the character U+0000' });
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
      if (values.length > 1) faults.push({ field: name, message: 'is given more than once' });
      return values.at(-1);
    },
    takeList(name) {
      const items = remove(name).flatMap((value) => (value === '' ? [] : value.split(',')));
      if (items.length > MAX_ITEMS) faults.push({ field: name, message: `must have at most ${String(MAX_ITEMS)} items` });
      return items.length > 0 ? items.slice(0, MAX_ITEMS) : undefined;
    },
    has: (name) => left.has(name),
    faults: () => [...faults, ...Array.from(left.keys(), (name) => ({ field: name, message: 'is not a parameter of this resource' }))],
  };
}
