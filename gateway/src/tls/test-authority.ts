/** For tests: an authority that signs certificates, and files of them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

export interface Signed {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly cert: string;
  /** Signs a certificate for the name, which is valid until `until`. */
  sign(name: string, until?: Date): Promise<Signed>;
}

const EC = { keyType: 'ec', algorithm: 'sha256' } as const;

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
        extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: commonName }] }],
        ...(until && { notBeforeDate: new Date(until.getTime() - 86_400_000), notAfterDate: until }),
      });
      return { cert: signed.cert, key: signed.private };
    },
  };
}

/** A folder with files. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'trestle-tls-'));

  /** Writes a file, and returns its path. */
  write(name: string, text: string): string {
    const file = join(this.path, name);
    writeFileSync(file, text);
    return file;
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}
