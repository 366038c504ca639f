/** Currencies: three letters (ISO 4217), kept in capitals. No I/O. */
import type { FieldFault } from '@trestle/schema/errors';

/** Says what is wrong with a currency as a client wrote it; to be asked before capitals are written: those of `ß` are `SS`. */
export function checkCurrency(currency: string | null): FieldFault[] {
  return currency !== null && /^[A-Za-z]{3}$/.test(currency) ? [] : [{ field: 'currency', message: 'must be three letters (ISO 4217)' }];
}
