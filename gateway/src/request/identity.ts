/** What an identity has besides headers of fetches. No I/O. */

/** As the name of a header: the credential that the client has sent, where an extension has replaced it. No client can send a header of this name. */
const SENT_CREDENTIAL = 'sent credential';

/** Returns the identity with the credential that the client has sent, for fetches that get another one. Clients then stay distinct. */
export function keepCredential(identity: readonly string[], sent: readonly string[]): readonly string[] {
  return [...identity, SENT_CREDENTIAL, valueOf(sent, 'authorization') ?? ''];
}

/** Returns the value of `Authorization` that the client has sent, whether or not an extension has replaced it; undefined without one. */
export function findCredential(identity: readonly string[]): string | undefined {
  const sent = valueOf(identity, SENT_CREDENTIAL);
  return sent === '' ? undefined : (sent ?? valueOf(identity, 'authorization'));
}

/** Returns the identity without any credential. */
export function withoutCredential(identity: readonly string[]): readonly string[] {
  return identity.filter((_, i) => ![SENT_CREDENTIAL, 'authorization'].includes(identity[i - (i % 2)] ?? ''));
}

/** Returns the headers of an identity, names and values in turn. */
export function toHeaders(identity: readonly string[]): readonly string[] {
  return identity.filter((_, i) => identity[i - (i % 2)]?.includes(' ') === false);
}

function valueOf(fields: readonly string[], name: string): string | undefined {
  const index = fields.findIndex((each, i) => i % 2 === 0 && each === name);
  return index < 0 ? undefined : fields[index + 1];
}
