/** Values that nobody may find anywhere: those that the flows send, and those that the system gives them. */

/** Sent by the flows. */
export const EMAIL = 'planted.person@leaks.example';
export const NEW_EMAIL = 'planted.anew@leaks.example';
export const PASSWORD = 'Planted-Passphrase-4711';
export const WRONG_PASSWORD = 'Wrong-Planted-Passphrase-4712';
export const NEW_PASSWORD = 'Another-Planted-Passphrase-4713';
export const CARD = '4111111111111111';
export const CARD_IN_GROUPS = '4111 1111 1111 1111';
export const BIO = `Planted biography, paid with ${CARD_IN_GROUPS}`;
/** The client of every request, by a trusted proxy. Only its networks of 24 and 48 bits may be kept. */
export const ADDRESSES = ['198.51.100.77', '2001:db8:77:4711::77'];

/** The planted values, by kind. */
export class Planted {
  readonly #values = new Map<string, Set<string>>();

  constructor() {
    this.plant('password', PASSWORD, WRONG_PASSWORD, NEW_PASSWORD);
    this.plant('e-mail address', EMAIL, NEW_EMAIL);
    this.plant('card number', CARD, CARD_IN_GROUPS, 'Planted biography');
    this.plant('address', ...ADDRESSES);
  }

  plant(kind: string, ...values: readonly string[]): void {
    const known = this.#values.get(kind) ?? new Set();
    for (const value of values) known.add(value);
    this.#values.set(kind, known);
  }

  /** Half a signature would be enough to recognize a token by. */
  plantToken(token: string): void {
    this.plant('access token', token, token.split('.').at(-1)?.slice(0, 43) ?? token);
  }

  /** Returns the values of a kind. */
  of(kind: string): readonly string[] {
    return [...(this.#values.get(kind) ?? [])];
  }
}
