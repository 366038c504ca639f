/** The query string as named parameters; whoever understands one takes it, and what is left over is a fault. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';

export interface Parameters {
  /** The value of a parameter, or undefined when it is absent; marks it as understood. */
  take(name: string): string | undefined;
  /** Whether the parameter is there, without taking it. */
  has(name: string): boolean;
  /** A fault for each parameter that was sent twice or that nobody took. */
  faults(): FieldFault[];
}

export function createParameters(search: URLSearchParams): Parameters {
  const left = new Map<string, string>();
  const faults: FieldFault[] = [];
  for (const [name, value] of search) {
    if (left.has(name)) faults.push({ field: name, message: 'is given more than once' });
    left.set(name, value);
  }
  return {
    take(name) {
      const value = left.get(name);
      left.delete(name);
      return value;
    },
    has: (name) => left.has(name),
    faults: () => [...faults, ...Array.from(left.keys(), (name) => ({ field: name, message: 'is not a parameter of this resource' }))],
  };
}
