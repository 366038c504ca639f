/** Checks certificates and private keys in PEM format (RFC 7468). No I/O. Messages never quote a key. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** Whether clients present certificates: `request` accepts those without one, and refuses those with one that is not valid. */
export const CLIENT_CERTIFICATES = ['none', 'request', 'require'] as const;

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Returns the text when it has one certificate or more, each of them valid PEM. Throws an Error otherwise. */
export function readCertificates(text: string): string {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new Error('must have a certificate in PEM format');
  for (const [i, block] of blocks.entries())
    try {
      new X509Certificate(block);
    } catch {
      throw new Error(`has a certificate that cannot be read, number ${String(i + 1)} of ${String(blocks.length)}`);
    }
  return text;
}

/** Returns the text when it is a private key without a passphrase. Throws an Error otherwise. */
export function readPrivateKey(text: string): string {
  if (/-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(text)) throw new Error('must be a private key without a passphrase');
  try {
    createPrivateKey(text);
  } catch {
    throw new Error('must have a private key in PEM format');
  }
  return text;
}

/** Returns whether the key is that of the first certificate, and TLS accepts both. */
export function isPair(certificate: string, key: string): boolean {
  try {
    createSecureContext({ cert: certificate, key });
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
