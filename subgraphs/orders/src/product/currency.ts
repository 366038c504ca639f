/** Currencies: three letters (ISO 4217), stored in capitals. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';

/** Returns the faults of a currency as a client sent it. Check it before the conversion to capitals, which turns `ß` into `SS`. */
export function checkCurrency(currency: string | null): FieldFault[] {
  if (currency === null) return [{ field: 'currency', message: 'must not be null' }];
  return /^[A-Za-z]{3}$/.test(currency) ? [] : [{ field: 'currency', message: 'must be three letters (ISO 4217)' }];
}
