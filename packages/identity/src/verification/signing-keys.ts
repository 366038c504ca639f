/** Remembers which key has verified the token of a caller, to notice that the key is in force no more. No I/O. */
import type { KeyObject } from 'node:crypto';
import type { Caller } from '../identity.ts';
import type { ParsedToken } from '../tokens/token-format.ts';

/** What of a token names its key. */
export type KeyName = Pick<ParsedToken, 'kid' | 'algorithm'> & { readonly issuer: unknown };

interface Verified {
  readonly name: KeyName;
  readonly key: KeyObject;
}

/** Keeps the keys for as long as the callers are in use. */
export class SigningKeys {
  readonly #find: (name: KeyName) => KeyObject | undefined;
  readonly #byCaller = new WeakMap<Caller, Verified>();

  /** `find` returns the key of that name that is in force. */
  constructor(find: (name: KeyName) => KeyObject | undefined) {
    this.#find = find;
  }

  /** Notes the key of a token that was just verified. */
  note(caller: Caller, { kid, algorithm, payload }: ParsedToken): void {
    const name = { kid, algorithm, issuer: payload['iss'] };
    const key = this.#find(name);
    if (key) this.#byCaller.set(caller, { name, key });
  }

  /** Returns whether the key that has verified the token of a caller still verifies tokens. */
  isInForce(caller: Caller): boolean {
    const verified = this.#byCaller.get(caller);
    return !verified || this.#find(verified.name)?.equals(verified.key) === true;
  }
}
