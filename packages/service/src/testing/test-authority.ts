/** For tests: certificates that sign themselves, and an authority that signs others. */
import { generate } from 'selfsigned';

/** A certificate and its private key, in PEM. */
export interface Signed {
  readonly cert: string;
  readonly key: string;
}

/** Signs certificates. */
export interface Authority {
  /** Its own certificate. */
  readonly cert: string;
  /** Signs a certificate for the name, which is valid until `until`. */
  sign(name: string, until?: Date): Promise<Signed>;
}

const EC = { keyType: 'ec', algorithm: 'sha256' } as const;

/** Creates a certificate for the name, which clients accept that trust the certificate itself. */
export async function createSelfSigned(name = 'localhost'): Promise<Signed> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], { ...EC, extensions: [nameExtension(name)] });
  return { cert, key };
}

/** Creates an authority with a key of its own. */
export async function createAuthority(name = 'Test Authority'): Promise<Authority> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    ...EC,
    extensions: [{ name: 'basicConstraints', cA: true }],
  });
  return {
    cert,
    async sign(commonName, until) {
      const subject = [
        { name: 'organizationName', value: 'Example' },
        { name: 'commonName', value: commonName },
      ];
      const signed = await generate(subject, {
        ...{ ...EC, ca: { key, cert } },
        extensions: [nameExtension(commonName)],
        ...(until && { notBeforeDate: new Date(until.getTime() - 86_400_000), notAfterDate: until }),
      });
      return { cert: signed.cert, key: signed.private };
    },
  };
}

function nameExtension(name: string) {
  return { name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: name }] };
}
